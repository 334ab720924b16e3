import type { Scenario } from './scenario';
import type { Scene } from './scene';

const BACK_S = 60;
/** What two processors make videos of, beside some forty processes. */
export const FLOW_MS = 1_500;
/** A figure is looked up at most every few seconds, and a busy machine answers late. */
const SEEN_S = 30;

/** Generations that were accepted between two instants. */
const acceptedSince = ({ traffic }: Scene, sinceMs: number): readonly string[] =>
  traffic.told.flatMap(({ id, atMs }) => (id !== null && atMs >= sinceMs ? [id] : []));

const countOf = async (scene: Scene, sql: string): Promise<number> =>
  Number((await scene.rows<{ count: string }>(sql))[0]?.count ?? Number.NaN);

const brokerDown: Scenario = {
  name: 'rocketmq-down',
  says: 'RocketMQ is down: creates are accepted, messages wait in the outbox',
  run: async (scene) => {
    const { cluster, traffic, expect, eventually } = scene;
    traffic.flow(FLOW_MS);
    await eventually('generations end before', () => someSucceeded(scene), 60);
    await cluster.backEnds.rocketmq.kill('SIGKILL');
    const since = performance.now();
    await eventually(
      'the relays say that the bus is out of reach',
      () => scene.partIs('outbox-relay', 'bus', false),
      20,
    );
    await scene.pause(scene.last(60, 15) - (performance.now() - since) / 1_000);
    const during = acceptedSince(scene, since);
    expect('creates are accepted meanwhile', during.length > 0, `${during.length}`);
    const waiting = await countOf(
      scene,
      `SELECT count(*) FROM outbox_events WHERE status = 'PENDING'`,
    );
    expect('their messages wait in the outbox', waiting > 0, `${waiting}`);
    await eventually(
      'the age of the oldest is in the metrics',
      async () =>
        ((await scene.metric('reconciler', 'aivedio_outbox_oldest_age_seconds')) ?? 0) > 1,
      SEEN_S,
    );
    await eventually('the APIs stay ready', () => scene.areReady('api'), SEEN_S);
    await cluster.backEnds.rocketmq.start();
    await eventually(
      'the relays find the bus again',
      () => scene.partIs('outbox-relay', 'bus', true),
      BACK_S,
    );
  },
};

const redisDown: Scenario = {
  name: 'redis-down',
  says: 'Redis is down: nothing fails, and slots are never granted twice',
  run: async (scene) => {
    const { cluster, traffic, expect, eventually } = scene;
    traffic.flow(FLOW_MS);
    await eventually('generations end before', () => someSucceeded(scene), 60);
    const inFlight = await scene.rows<{ id: string }>(
      `SELECT id::text AS id FROM generation_tasks WHERE status IN ('SUBMITTED', 'RUNNING', 'OUTPUT_FETCHING', 'POST_PROCESSING')`,
    );
    await cluster.backEnds.redis.kill('SIGKILL');
    const since = performance.now();
    await eventually(
      'the APIs and schedulers say so',
      async () =>
        (await scene.partIs('api', 'redis', false)) && scene.partIs('scheduler', 'redis', false),
      20,
    );
    await eventually(
      'what was submitted goes on to its end',
      async () => (await endedAmong(scene, inFlight)) === inFlight.length,
      30,
    );
    await scene.pause(scene.last(30, 10) - (performance.now() - since) / 1_000);
    await eventually('the APIs stay ready', () => scene.areReady('api'), SEEN_S);
    const during = acceptedSince(scene, since);
    expect('creates are accepted meanwhile', during.length > 0, `${during.length}`);
    const slowest = Math.max(
      ...traffic.told.filter(({ atMs }) => atMs >= since).map(({ tookMs }) => tookMs),
    );
    expect('no create waits for Redis', slowest < 8_000, `slowest ${slowest.toFixed(0)} ms`);
    await cluster.backEnds.redis.start();
    await eventually(
      'the schedulers find Redis again',
      () => scene.partIs('scheduler', 'redis', true),
      BACK_S,
    );
  },
};

const redisFlushed: Scenario = {
  name: 'redis-flushed',
  says: 'Redis loses all its keys: slots are rebuilt from the attempts',
  run: async (scene) => {
    const { cluster, traffic, eventually } = scene;
    traffic.flow(FLOW_MS);
    await eventually(
      'jobs are in flight',
      async () =>
        (await countOf(
          scene,
          `SELECT count(*) FROM task_attempts WHERE status IN ('SENDING', 'ACKED', 'RUNNING')`,
        )) > 0,
      60,
    );
    for (let flushes = 0; flushes < scene.last(6, 3); flushes += 1) {
      await cluster.backEnds.redis.flush();
      await scene.pause(2);
    }
    const since = performance.now();
    await eventually(
      'generations are accepted and end afterwards',
      () => someSucceeded(scene, since),
      60,
    );
  },
};

const redisSlow: Scenario = {
  name: 'redis-slow',
  says: 'Redis answers late: callers do not wait for it',
  run: async (scene) => {
    const { cluster, traffic, expect, eventually } = scene;
    traffic.flow(FLOW_MS);
    await eventually('generations end before', () => someSucceeded(scene), 60);
    const { redis } = cluster.backEnds;
    const since = performance.now();
    const until = since + scene.last(30, 10) * 1_000;
    try {
      while (performance.now() < until) {
        await redis.kill('SIGSTOP');
        await scene.pause(0.7);
        await redis.kill('SIGCONT');
        await scene.pause(0.1);
      }
    } finally {
      await redis.kill('SIGCONT');
    }
    const during = acceptedSince(scene, since);
    expect('creates are accepted meanwhile', during.length > 0, `${during.length}`);
    const slowest = Math.max(
      ...traffic.told.filter(({ atMs }) => atMs >= since).map(({ tookMs }) => tookMs),
    );
    expect('no create waits long', slowest < 8_000, `slowest ${slowest.toFixed(0)} ms`);
    await eventually(
      'the schedulers call Redis good',
      () => scene.partIs('scheduler', 'redis', true),
      BACK_S,
    );
  },
};

const objectsDown: Scenario = {
  name: 'objects-down',
  says: 'the object store is down: outputs wait, nothing is generated twice',
  run: async (scene) => {
    const { cluster, traffic, expect, eventually } = scene;
    traffic.flow(FLOW_MS);
    await eventually('generations end before', () => someSucceeded(scene), 60);
    await cluster.backEnds.s3.stop();
    const since = performance.now();
    await eventually(
      'the fetchers and APIs say so',
      async () =>
        (await scene.partIs('output-fetch', 'objects', false)) &&
        scene.partIs('api', 'objects', false),
      20,
    );
    await eventually(
      'finished jobs wait for their output to be kept',
      async () =>
        (await countOf(
          scene,
          `SELECT count(*) FROM generation_tasks WHERE status = 'OUTPUT_FETCHING'`,
        )) > 0,
      30,
    );
    await scene.pause(scene.last(30, 10) - (performance.now() - since) / 1_000);
    expect('creates are accepted meanwhile', acceptedSince(scene, since).length > 0);
    await eventually(
      'the backlog is in the metrics',
      async () => ((await scene.metric('reconciler', 'aivedio_output_fetch_backlog')) ?? 0) > 0,
      SEEN_S,
    );
    await eventually('the APIs stay ready', () => scene.areReady('api'), SEEN_S);
    await cluster.backEnds.s3.start();
    await eventually(
      'the fetchers find the store again',
      () => scene.partIs('output-fetch', 'objects', true),
      BACK_S,
    );
  },
};

const postgresRestarted: Scenario = {
  name: 'postgres-restarted',
  says: 'Postgres goes away and comes back: new work is refused, never "accepted now, written later"',
  run: async (scene) => {
    const { cluster, traffic, expect, eventually } = scene;
    traffic.flow(FLOW_MS);
    await eventually('generations end before', () => someSucceeded(scene), 60);
    await cluster.backEnds.postgres.kill('SIGQUIT');
    const since = performance.now();
    await eventually(
      'the APIs are not ready, for the database',
      () => scene.partIs('api', 'database', false),
      20,
    );
    const told = await traffic.createOnce(`refused-${since}`);
    expect(
      'a create is refused with 503',
      told.status === 503 && told.id === null,
      `${told.status} ${told.code}`,
    );
    expect(
      'and is told when to come again',
      (told.retryAfterS ?? 0) > 0,
      `Retry-After ${told.retryAfterS}`,
    );
    await scene.pause(scene.last(15, 5) - (performance.now() - since) / 1_000);
    const before = performance.now();
    const during = traffic.told.filter(
      ({ atMs, tookMs, id }) => id !== null && atMs > since && atMs + tookMs < before,
    );
    expect('nothing is accepted without Postgres', during.length === 0, `${during.length}`);
    await cluster.backEnds.postgres.start();
    await eventually(
      'the APIs are ready again',
      () => scene.partIs('api', 'database', true),
      BACK_S,
    );
    await eventually('generations end again', () => someSucceeded(scene, before), 60);
  },
};

/** One that was accepted at or after the instant has succeeded. */
export const someSucceeded = async (scene: Scene, sinceMs = 0): Promise<boolean> =>
  (await scene.statusesOf(acceptedSince(scene, sinceMs))).includes('SUCCEEDED');

const endedAmong = async (
  scene: Scene,
  wanted: readonly { readonly id: string }[],
): Promise<number> =>
  (
    await scene.rows(
      'SELECT id FROM generation_tasks WHERE id = ANY($1) AND finished_at IS NOT NULL',
      [wanted.map(({ id }) => id)],
    )
  ).length;

export const BACK_END_SCENARIOS: readonly Scenario[] = [
  brokerDown,
  redisDown,
  redisFlushed,
  redisSlow,
  objectsDown,
  postgresRestarted,
];
