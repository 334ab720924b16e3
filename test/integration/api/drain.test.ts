import { setTimeout as wait } from 'node:timers/promises';

import { eventually } from '../../support/eventually';
import { useOwnApi, type RunningApi } from './support/running-api';

const open = useOwnApi();

/** Much longer than a look of the balancer takes, also on a busy machine. */
const UNREADY_MS = 1_500;
const CLIENTS = 3;
const PROBE_MS = 25;
const TRAFFIC_MS = 50_000;

/** Spreads requests over the instances that were ready when it last looked, and repeats none that failed. */
const startBalancer = (instances: RunningApi[]) => {
  let ready: readonly RunningApi[] = [];
  let stopped = false;
  const served = new Map<RunningApi, number>();
  const failures: string[] = [];
  // Whatever the test does, the traffic ends.
  const limit = setTimeout(() => (stopped = true), TRAFFIC_MS);
  const probing = (async () => {
    while (!stopped) {
      const asked = [...instances];
      const answers = await Promise.all(asked.map(isReady));
      ready = asked.filter((_, index) => answers[index]);
      await wait(PROBE_MS);
    }
  })();
  const client = async (offset: number): Promise<void> => {
    for (let turn = offset; !stopped; turn += 1) {
      const api = ready[turn % ready.length];
      if (api === undefined) {
        await wait(PROBE_MS);
        continue;
      }
      try {
        const answer = await api.ask('{ viewer { scopes } }');
        if (answer.status === 200) served.set(api, (served.get(api) ?? 0) + 1);
        else failures.push(`status ${answer.status}: ${answer.text}`);
      } catch (error) {
        failures.push(String((error as Error).cause ?? error));
      }
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index));
  return {
    failures,
    trafficOn: async (...apis: readonly RunningApi[]): Promise<void> => {
      const before = apis.map((api) => served.get(api) ?? 0);
      await eventually('traffic', () =>
        apis.every((api, index) => (served.get(api) ?? 0) >= (before[index] ?? 0) + 5)
          ? true
          : null,
      );
    },
    add: (api: RunningApi) => instances.push(api),
    stop: async () => {
      stopped = true;
      clearTimeout(limit);
      await Promise.all([...clients, probing]);
    },
  };
};

const isReady = (api: RunningApi): Promise<boolean> =>
  fetch(`${api.url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );

describe('instances that are restarted one after the other under load', () => {
  it('are unready first, fail no request, and hand their clients on', async () => {
    const [first, second] = [await open(), await open()];
    const balancer = startBalancer([first, second]);
    try {
      await balancer.trafficOn(first, second);
      const closing = first.server.close(5_000, UNREADY_MS);
      const unready = await fetch(`${first.url}/readyz`);
      expect(unready.status).toBe(503);
      expect(unready.headers.get('connection')).toBe('close');
      expect(await unready.json()).toMatchObject({ status: 'draining' });
      // It still answers whoever has not looked yet.
      expect((await first.ask('{ viewer { scopes } }')).status).toBe(200);
      await closing;
      await expect(fetch(`${first.url}/healthz`)).rejects.toThrow();
      const third = await open();
      balancer.add(third);
      await balancer.trafficOn(second, third);
      await second.server.close(5_000, UNREADY_MS);
      await balancer.trafficOn(third);
    } finally {
      await balancer.stop();
    }
    expect(balancer.failures).toEqual([]);
  });
});
