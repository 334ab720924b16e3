import { toUuid } from '../../src/resolvers/public-id';
import { FLOW_MS, someSucceeded } from './back-end-scenarios';
import { readReadiness } from './read-processes';
import type { Scenario } from './scenario';
import type { Scene } from './scene';
import type { ClusterProcess } from '../list-processes';

const haltAll = async (scene: Scene, kind: ClusterProcess['kind'], signal: NodeJS.Signals) => {
  const names = scene.processesOf(kind).map(({ name }) => name);
  await Promise.all(names.map((name) => scene.cluster.supervisor.halt(name, signal)));
  return () => Promise.all(names.map((name) => scene.cluster.supervisor.resume(name)));
};

const circuitOpen: Scenario = {
  name: 'provider-circuit',
  says: 'a provider refuses: its circuit opens for submits, and what it has is asked for as before',
  run: async (scene) => {
    const { traffic, eventually } = scene;
    const known = await traffic.create({
      providerOptions: { fault: ['callback_never', 'slow'], slow_ms: 3_000 },
    });
    await eventually(
      'one is with the provider',
      async () =>
        (await scene.statusesOf([known ?? ''])).some(
          (each) => each === 'SUBMITTED' || each === 'RUNNING',
        ),
      30,
    );
    await scene.queueProviderFaults(Array.from({ length: 8 }, () => 'reject_503'));
    const refused = await Promise.all(Array.from({ length: 8 }, () => traffic.create()));
    await eventually(
      'the circuit opens, in health',
      () => scene.partIs('scheduler', 'providers', false),
      30,
    );
    await eventually('the schedulers stay ready', () => scene.areReady('scheduler'), 30);
    await eventually(
      'what the provider has already ends',
      async () => (await scene.statusesOf([known ?? ''])).includes('SUCCEEDED'),
      60,
    );
    await eventually(
      'the circuit closes by itself',
      () => scene.partIs('scheduler', 'providers', true),
      60,
    );
    await eventually(
      'the refused ones end well',
      async () =>
        (await scene.statusesOf(refused.flatMap((id) => id ?? []))).filter(
          (each) => each === 'SUCCEEDED',
        ).length === refused.length,
      90,
    );
  },
};

const callbacksGone: Scenario = {
  name: 'callbacks-gone',
  says: 'no callback arrives: polling covers, and those that come late change nothing',
  run: async (scene) => {
    const { traffic, eventually, expect } = scene;
    const resume = await haltAll(scene, 'callback', 'SIGKILL');
    const said = await Promise.all(scene.processesOf('callback').map(readReadiness));
    expect(
      'the callback workers answer no probe',
      said.every((each) => each === null),
    );
    const ids = await Promise.all(Array.from({ length: scene.last(8, 4) }, () => traffic.create()));
    const uuids = ids.flatMap((id) => (id === null ? [] : [toUuid('generation', id)]));
    await eventually(
      'all succeed by polling alone',
      async () => {
        const found = await scene.rows<{ source: string }>(
          `SELECT DISTINCT e.source FROM task_state_events e JOIN generation_tasks t ON t.id = e.task_id
         WHERE t.id = ANY($1) AND t.status = 'SUCCEEDED' AND e.to_status = 'OUTPUT_FETCHING'`,
          [uuids],
        );
        const done = await scene.statusesOf(ids.flatMap((id) => id ?? []));
        return (
          done.length === ids.length &&
          done.every((each) => each === 'SUCCEEDED') &&
          found.every(({ source }) => source === 'polling')
        );
      },
      90,
    );
    await eventually(
      'the polls are in the metrics',
      async () => ((await scene.metric('poller', 'aivedio_polls_total')) ?? 0) > 0,
      30,
    );
    await resume();
    await eventually(
      'callbacks are taken again',
      () => scene.partIs('callback', 'database', true),
      30,
    );
  },
};

const mediaGone: Scenario = {
  name: 'media-gone',
  says: 'no media worker lives: the raw output is kept, and the caller sees "generated, processing"',
  run: async (scene) => {
    const { traffic, eventually, expect } = scene;
    const resume = await haltAll(scene, 'media', 'SIGKILL');
    const ids = await Promise.all(Array.from({ length: scene.last(8, 4) }, () => traffic.create()));
    const known = ids.flatMap((id) => id ?? []);
    await eventually(
      'every output is generated and kept',
      async () =>
        (await scene.statusesOf(known)).filter((each) => each === 'POST_PROCESSING').length ===
        known.length,
      90,
    );
    const answer = await scene.client.request<{ generation: { status: string } | null }>(
      'query Q($id: ID!) { generation(id: $id) { status } }',
      { id: known[0] ?? '' },
    );
    expect('the caller sees it', answer.data?.generation?.status === 'POST_PROCESSING');
    const raws = await scene.rows(
      `SELECT id FROM assets WHERE task_id = ANY($1) AND kind = 'RAW_OUTPUT'`,
      [known.map((id) => toUuid('generation', id))],
    );
    expect('with its raw file', raws.length === known.length, `${raws.length}`);
    await eventually(
      'the backlog is in the metrics',
      async () => ((await scene.metric('reconciler', 'aivedio_media_backlog')) ?? 0) > 0,
      30,
    );
    await resume();
    await eventually(
      'all end when the workers are back',
      async () => (await scene.statusesOf(known)).every((each) => each === 'SUCCEEDED'),
      90,
    );
  },
};

const outboxOld: Scenario = {
  name: 'outbox-old',
  says: 'no relay lives and the outbox grows old: admission refuses, with Retry-After',
  run: async (scene) => {
    const { traffic, eventually } = scene;
    await traffic.create();
    await eventually('generations end before', () => someSucceeded(scene), 60);
    const resume = await haltAll(scene, 'outbox-relay', 'SIGKILL');
    let tries = 0;
    await eventually(
      'a create is refused when the outbox is too old',
      async () => {
        const told = await traffic.createOnce(`old-${performance.now()}-${(tries += 1)}`);
        return (
          told.id === null &&
          (told.status === 429 || told.status === 503) &&
          (told.retryAfterS ?? 0) > 0
        );
      },
      scene.last(60, 40),
    );
    await eventually(
      'the age is in the metrics',
      async () =>
        ((await scene.metric('reconciler', 'aivedio_outbox_oldest_age_seconds')) ?? 0) > 1,
      30,
    );
    await resume();
    await eventually(
      'creates are accepted again',
      async () => (await traffic.createOnce(`again-${performance.now()}`)).id !== null,
      30,
    );
  },
};

const rollingRestart: Scenario = {
  name: 'rolling-restart',
  says: 'every process is stopped and started in its turn, as a new version is rolled out: no request fails',
  run: async (scene) => {
    const { cluster, traffic, eventually, expect } = scene;
    traffic.flow(FLOW_MS);
    await eventually('generations end before', () => someSucceeded(scene), 60);
    const since = performance.now();
    const reader = startReader(scene);
    // The short form takes one of each kind.
    const all = cluster.processes.filter(
      ({ name }) => scene.last(1, 0) === 1 || name.endsWith('-1'),
    );
    const killed: string[] = [];
    for (const each of all) {
      const ending = await cluster.supervisor.halt(each.name, 'SIGTERM');
      if (ending !== 0) killed.push(`${each.name}: ${ending}`);
      await cluster.supervisor.resume(each.name);
      await eventually(
        `${each.name} takes work again`,
        async () => (await readReadiness(each))?.status === 200,
        60,
      );
    }
    expect('all ended by themselves', killed.length === 0, killed.join(', ') || undefined);
    const creates = traffic.told.filter(({ atMs }) => atMs >= since);
    const refused = creates.filter(({ id }) => id === null);
    expect(
      `all ${creates.length} creates were accepted at once`,
      creates.length > 0 && refused.length === 0,
      refused.map(({ status, code }) => `${status} ${code}`).join(', ') || undefined,
    );
    const { reads, failed } = await reader.stop();
    expect(
      `all ${reads} queries were answered`,
      reads > 0 && failed.length === 0,
      failed.join(', ') || undefined,
    );
    await eventually('generations that began meanwhile end', () => someSucceeded(scene, since), 60);
  },
};

const READ_MS = 200;

/** A caller who asks without a pause; says which of its questions had no answer. */
const startReader = (scene: Scene) => {
  let stopping = false;
  let reads = 0;
  const failed: string[] = [];
  const run = async (): Promise<void> => {
    while (!stopping) {
      const answer = await scene.client
        .request<unknown>('query { generations(first: 5) { edges { node { id status } } } }', {})
        .catch((error: unknown) => String(error));
      reads += 1;
      if (typeof answer === 'string') failed.push(answer);
      else if (answer.status !== 200 || answer.errors.length > 0) failed.push(`${answer.status}`);
      await scene.pause(READ_MS / 1_000);
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping = true;
      await running;
      return { reads, failed };
    },
  };
};

export const WORKER_SCENARIOS: readonly Scenario[] = [
  circuitOpen,
  callbacksGone,
  mediaGone,
  outboxOld,
  rollingRestart,
];
