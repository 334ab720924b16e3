import { Pool } from 'pg';

import { createGraphqlClient } from '../../src/client/graphql-client';
import { toUuid } from '../../src/resolvers/public-id';
import { describeSeen, findUnused, judgeStored } from '../judge';
import type { Cluster } from '../open-cluster';
import { BACK_END_SCENARIOS } from './back-end-scenarios';
import type { Scenario } from './scenario';
import { openScene, type Scene } from './scene';
import { WORKER_SCENARIOS } from './worker-scenarios';

export const SCENARIOS: readonly Scenario[] = [...BACK_END_SCENARIOS, ...WORKER_SCENARIOS];

/** Leases, polls and sweeps short enough that what a failure holds up comes back within a minute. */
export const IMPATIENT: Readonly<Record<string, string>> = {
  AIVEDIO_BUS_LEASE_MS: '5000',
  AIVEDIO_SUBMIT_LEASE_MS: '8000',
  AIVEDIO_STUCK_AFTER_MS: '10000',
  AIVEDIO_POLL_MS_FIRST: '1500',
  AIVEDIO_POLL_MS_MAX: '4000',
  AIVEDIO_CIRCUIT_OPEN_MS: '8000',
  AIVEDIO_THROTTLE_MS: '2000',
  AIVEDIO_SLOT_TTL_MS: '20000',
  AIVEDIO_SANDBOX_CONCURRENCY: '40',
  AIVEDIO_DRAIN_MS: '5000',
  AIVEDIO_RELAY_LAG_REFUSE_MS: '20000',
};

const END_LIMIT_S = 120;

interface Voice {
  readonly print: (line: string) => void;
  readonly say: (line: string) => void;
}

/** Answers the names that there are not. */
export const unknownScenarios = (only: readonly string[] | null): readonly string[] =>
  (only ?? []).filter((name) => !SCENARIOS.some((each) => each.name === name));

/** Breaks one part after the other while generations run. Answers the exit code. */
export const runDegrade = async (
  cluster: Cluster,
  options: { readonly only: readonly string[] | null; readonly sampled: boolean },
  { print, say }: Voice,
): Promise<number> => {
  const pool = new Pool({
    connectionString: cluster.backEnds.postgres.url,
    max: 3,
    connectionTimeoutMillis: 2_000,
  });
  pool.on('error', () => undefined);
  // The provider shows a job as soon as it is made: absent for some seconds is absent.
  await pool.query('UPDATE providers SET absence_grace_ms = 6000, unknown_window_ms = 90000');
  await pool.query('UPDATE tenants SET in_flight_max = 10000, queued_max = 100000');
  const client = createGraphqlClient(cluster.front.url, cluster.apiKey);
  const failures: string[] = [];
  const chosen = SCENARIOS.filter(({ name }) => options.only?.includes(name) ?? true);
  try {
    for (const scenario of chosen) {
      say(`${scenario.name}: ${scenario.says}`);
      const scene = openScene({
        ...{ name: scenario.name, cluster, client, pool, say },
        sampled: options.sampled,
      });
      try {
        await scenario.run(scene);
        await settle(scene);
      } catch (error) {
        scene.expect('it runs to its end', false, String(error));
      }
      failures.push(...scene.failures.map((each) => `${scenario.name}: ${each}`));
    }
    const seen = await cluster.backEnds.countSeen();
    await cluster.stopProduct();
    const { invariants, rows, violations } = await judgeStored(cluster.config);
    failures.push(
      ...violations.map((each) => `at the end: ${each.invariant} ${each.subject}: ${each.detail}`),
    );
    failures.push(...findUnused(seen));
    print('What the servers saw');
    for (const line of describeSeen(seen)) print(line);
    print(`${chosen.length} degradations, ${invariants} invariants asked of ${rows} rows`);
    for (const failure of failures) print(`Fell short: ${failure}`);
    print(`${failures.length} failures`);
    return failures.length === 0 ? 0 : 1;
  } finally {
    await client.close();
    await pool.end();
  }
};

/** After every scenario: what was asked for was answered, what was accepted ended once, and all invariants hold. */
const settle = async (scene: Scene): Promise<void> => {
  const unanswered = await scene.traffic.stop();
  scene.expect(
    'every create was accepted in the end',
    unanswered.length === 0,
    unanswered.join(' '),
  );
  const ids = [...scene.traffic.accepted.values()];
  await scene.eventually(
    `all ${ids.length} accepted generations succeed`,
    async () =>
      (await scene.statusesOf(ids)).filter((each) => each === 'SUCCEEDED').length === ids.length,
    END_LIMIT_S,
  );
  const uuids = ids.map((id) => toUuid('generation', id));
  const [count] = await scene.rows<{ settled: number; charged: number }>(
    `SELECT count(*) FILTER (WHERE kind = 'SETTLE')::int AS settled, count(*) FILTER (WHERE kind = 'RESERVE')::int AS charged
     FROM credit_ledger WHERE task_id = ANY($1)`,
    [uuids],
  );
  scene.expect(
    'each was reserved and settled once',
    count?.settled === ids.length && count.charged === ids.length,
    `${count?.charged} and ${count?.settled}`,
  );
  await untilIdle(scene);
  const { invariants, violations } = await judgeStored(scene.cluster.config, { settleMs: 5_000 });
  scene.expect(
    `${invariants} invariants hold`,
    violations.length === 0,
    violations.length === 0
      ? undefined
      : violations.map((each) => `${each.invariant} ${each.subject}: ${each.detail}`).join('; '),
  );
};

const untilIdle = (scene: Scene): Promise<void> =>
  scene.eventually(
    'no message waits in the outbox',
    async () =>
      (
        await scene.rows<{ count: string }>(
          `SELECT count(*) FROM outbox_events WHERE status = 'PENDING' AND available_at <= now()`,
        )
      )[0]?.count === '0',
    60,
  );
