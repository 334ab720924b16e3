import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { freePort } from '../../src/runtime/free-port';
import { startRedis, withRedis, type RedisServer } from './redis';
import { serverProcess, type ServerProcess } from './server-process';

const LOCAL = '127.0.0.1';
const TRIES = 400;
const EVERY_MS = 50;
const CLUSTER_SLOTS = 16_384;
const MASTER = 'aivedio';
const SENTINELS = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;

export interface RedisGroup {
  readonly url: string;
  /** The data nodes; of Sentinel the master was the first at the start. */
  readonly servers: readonly RedisServer[];
  readonly pids: readonly number[];
  stop(): Promise<void>;
  commandsSeen(names?: readonly string[]): Promise<number>;
}

interface GroupOptions {
  readonly dir: string;
  readonly log?: (line: string) => void;
}

/** A master, a replica, and three sentinels that make the replica master when the master is gone for a second. */
export const startRedisSentinel = async (options: GroupOptions): Promise<RedisGroup> => {
  const master = await startRedis({ dir: path.join(options.dir, 'node-0') });
  const replica = await startRedis({
    dir: path.join(options.dir, 'node-1'),
    args: ['--replicaof', `${LOCAL} ${master.port}`],
  });
  const servers = [master, replica];
  const sentinels: { readonly port: number; readonly process: ServerProcess }[] = [];
  for (let index = 0; index < SENTINELS; index += 1) {
    sentinels.push(await startSentinel(path.join(options.dir, `sentinel-${index}`), master));
  }
  await until('the replica follows', async () =>
    (await replica.admin((redis) => redis.info('replication'))).includes('master_link_status:up'),
  );
  for (const { port } of sentinels) {
    await until('the sentinels know each other', () =>
      withRedis(port, null, async (redis) => {
        const found = (await redis.call('SENTINEL', 'MASTER', MASTER)) as string[];
        const of = (name: string) => Number(found[found.indexOf(name) + 1]);
        return of('num-other-sentinels') === SENTINELS - 1 && of('num-slaves') === 1;
      }).catch(() => false),
    );
  }
  const hosts = sentinels.map(({ port }) => `${LOCAL}:${port}`).join(',');
  return group(
    `redis+sentinel://:${master.password}@${hosts}/${MASTER}`,
    servers,
    sentinels.map(({ process }) => process),
  );
};

const startSentinel = async (
  dir: string,
  master: RedisServer,
): Promise<{ readonly port: number; readonly process: ServerProcess }> => {
  await mkdir(dir, { recursive: true });
  const port = await freePort(LOCAL, 0);
  const configuration = path.join(dir, 'sentinel.conf');
  // A sentinel writes what it learns into its configuration, so it needs a file.
  await writeFile(
    configuration,
    [
      `port ${port}`,
      `bind ${LOCAL}`,
      `dir ${dir}`,
      `sentinel monitor ${MASTER} ${LOCAL} ${master.port} ${QUORUM}`,
      `sentinel auth-pass ${MASTER} ${master.password}`,
      `sentinel down-after-milliseconds ${MASTER} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${MASTER} 5000`,
      '',
    ].join('\n'),
  );
  const process = serverProcess(
    'redis-server',
    [configuration, '--sentinel'],
    path.join(dir, 'sentinel.log'),
  );
  process.start();
  await until('a sentinel answers', () =>
    withRedis(port, null, (redis) => redis.ping()).then(
      (answer) => answer === 'PONG',
      () => false,
    ),
  );
  return { port, process };
};

/** Three masters without replicas that share the hash slots. */
export const startRedisCluster = async (options: GroupOptions): Promise<RedisGroup> => {
  const servers: RedisServer[] = [];
  for (let index = 0; index < 3; index += 1) {
    // The bus listens at the port plus 10,000, which must exist too.
    const port = await freeLowPort();
    servers.push(
      await startRedis({
        dir: path.join(options.dir, `node-${index}`),
        port,
        args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'],
      }),
    );
  }
  // Epochs are given while no node knows another.
  for (const [index, server] of servers.entries()) {
    await server.admin((redis) => redis.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1)));
  }
  const share = Math.ceil(CLUSTER_SLOTS / servers.length);
  for (const [index, server] of servers.entries()) {
    const last = Math.min(CLUSTER_SLOTS, (index + 1) * share) - 1;
    await server.admin(async (redis) => {
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last));
      for (const other of servers) {
        if (other !== server) await redis.call('CLUSTER', 'MEET', LOCAL, String(other.port));
      }
    });
  }
  for (const server of servers) {
    await until('the cluster is whole', async () => {
      const info = String(await server.admin((redis) => redis.call('CLUSTER', 'INFO')));
      return (
        info.includes('cluster_state:ok') &&
        info.includes(`cluster_known_nodes:${servers.length}`) &&
        info.includes(`cluster_slots_ok:${CLUSTER_SLOTS}`)
      );
    });
  }
  const hosts = servers.map(({ port }) => `${LOCAL}:${port}`).join(',');
  return group(`redis+cluster://:${servers[0]?.password ?? ''}@${hosts}`, servers, []);
};

const PORT_FIRST = 20_000;
const PORT_RANGE = 30_000;

const freeLowPort = async (): Promise<number> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const wanted = PORT_FIRST + Math.floor(Math.random() * PORT_RANGE);
    if ((await freePort(LOCAL, wanted)) === wanted) return wanted;
  }
  throw new Error('No free port for a node of a Redis Cluster');
};

const group = (
  url: string,
  servers: readonly RedisServer[],
  others: readonly ServerProcess[],
): RedisGroup => ({
  url,
  servers,
  get pids() {
    return [...servers.flatMap(({ pids }) => pids), ...others.flatMap(({ pid }) => pid ?? [])];
  },
  stop: async () => {
    // The sentinels first: they would take the stop for a failure.
    await Promise.all(others.map((each) => each.kill('SIGKILL')));
    await Promise.all(servers.map((each) => each.stop()));
  },
  commandsSeen: async (names) =>
    (await Promise.all(servers.map((each) => each.commandsSeen(names)))).reduce(
      (sum, each) => sum + each,
      0,
    ),
});

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (await holds()) return;
    await wait(EVERY_MS);
  }
  throw new Error(`Waited in vain until ${what}`);
};
