import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';

import { readConfig } from '../../src/runtime/config';
import { createContainer, type Container } from '../../src/runtime/container';
import { startBenchServer, type BenchServer } from '../flow/bench-server';
import { endWithServer } from '../flow/end-with-server';
import { deliverAtRate } from './deliver-at-rate';
import { sendBare, startBenchRocketmq } from './drain-to-rocketmq';
import { fillOutbox } from './fill-outbox';
import { insertSingleRows } from './insert-single-rows';

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const POSTGRES_SHARE_MIN = 0.5;
const ROCKETMQ_SHARE_MIN = 0.8;
const DELIVERED_P99_MS_MAX = 50;
const RATE_PER_SECOND = 500;
/** The relay worker's own batch. */
const BATCH = 500;
const CLIENTS = 4;

interface RelayOptions {
  readonly rows: number;
  readonly seconds: number;
  readonly rocketmq: boolean;
}

export const readRelayOptions = (args: readonly string[]): RelayOptions => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      short: { type: 'boolean', default: false },
      'without-rocketmq': { type: 'boolean', default: false },
    },
  });
  return {
    rows: values.short ? 10_000 : 100_000,
    seconds: values.short ? 5 : 20,
    rocketmq: !values['without-rocketmq'],
  };
};

/** How fast the outbox empties to either bus, beside what server and client do by themselves, and how soon a message is there. */
export const runRelayBench = async (options: RelayOptions): Promise<void> => {
  const server = await startBenchServer(1);
  const stop = endWithServer(server);
  try {
    say(`load ${load()}, ${options.rows} rows`);
    await showDelivered(server, options);
    await showPostgres(server, options);
    if (options.rocketmq) await showRocketmq(server, options);
  } finally {
    await stop();
  }
};

const load = (): string => (loadavg()[0] ?? 0).toFixed(1);

const open = (server: BenchServer, name: string, env: Record<string, string> = {}): Container =>
  createContainer(readConfig({ ...server.env, AIVEDIO_BELL: 'postgres', ...env }), name);

const showDelivered = async (server: BenchServer, { seconds }: RelayOptions): Promise<void> => {
  const containers = {
    // A transaction holds its connection for as long as its commit is held back.
    writer: open(server, 'writer', { AIVEDIO_POOL_MAX: '30' }),
    relay: open(server, 'relay'),
    consumer: open(server, 'consumer'),
  };
  const rate = { ratePerSecond: RATE_PER_SECOND };
  try {
    await deliverAtRate(containers, { ...rate, seconds: 2 });
    const seen = await deliverAtRate(containers, { ...rate, seconds });
    say(
      `commit → delivered at ${RATE_PER_SECOND}/s, Postgres bus: p50 ${seen.p50Ms.toFixed(1)} ms, p99 ${seen.p99Ms.toFixed(1)} ms` +
        ` (aim below ${DELIVERED_P99_MS_MAX}); ${seen.count} messages, lost ${seen.lost}, repeated ${seen.repeated},` +
        ` order breaks ${seen.orderBreaks}; load ${load()}`,
    );
  } finally {
    await Promise.all(Object.values(containers).map((each) => each.close()));
  }
};

/** Rows a second until the outbox is empty. */
const drain = async (container: Container, rows: number): Promise<number> => {
  await fillOutbox(container.context.uow, rows);
  const began = performance.now();
  let moved = 0;
  while (moved < rows) {
    const now = await container.mover.moveBatch(new Date(), BATCH);
    if (now === 0) throw new Error(`The outbox is empty after ${moved} of ${rows} rows`);
    moved += now;
  }
  return rows / ((performance.now() - began) / 1_000);
};

const showPostgres = async (
  server: BenchServer,
  { rows, seconds }: RelayOptions,
): Promise<void> => {
  const { databaseUrl, dataDir: dir } = server;
  const container = open(server, 'relay');
  try {
    const insert = (synchronousCommit: 'on' | 'off') =>
      insertSingleRows({ databaseUrl, dir, clients: CLIENTS, seconds, synchronousCommit });
    const durable = await insert('on');
    const drained = await drain(container, rows);
    const relaxed = await insert('off');
    const share = ({ ratePerSecond }: typeof durable): string =>
      `${ratePerSecond.toFixed(0)}/s, share ${(drained / ratePerSecond).toFixed(2)}`;
    say(
      `drain to the Postgres bus: ${drained.toFixed(0)} rows/s; single-row inserts of ${CLIENTS} clients by ${durable.by}: ${share(durable)}` +
        ` (aim ${POSTGRES_SHARE_MIN}); without waiting for the disk, as the relay's moves: ${share(relaxed)}; load ${load()}`,
    );
  } finally {
    await container.close();
  }
};

const showRocketmq = async (server: BenchServer, { rows }: RelayOptions): Promise<void> => {
  const { server: rocketmq, env } = await startBenchRocketmq(server.dataDir, say);
  const container = open(server, 'relay', env);
  const body = Buffer.alloc(400, 'x');
  try {
    // The first sends warm the proxy and both clients.
    await sendBare(rocketmq.endpoints, body, 1_000);
    await drain(container, 1_000);
    const bare = await sendBare(rocketmq.endpoints, body, rows);
    const drained = await drain(container, rows);
    say(
      `drain to RocketMQ: ${drained.toFixed(0)} rows/s; the bare client: ${bare.toFixed(0)}/s;` +
        ` share ${(drained / bare).toFixed(2)} (aim ${ROCKETMQ_SHARE_MIN}); the broker saw ${await rocketmq.messagesSeen()} messages; load ${load()}`,
    );
  } finally {
    await container.close();
    await rocketmq.stop();
  }
};
