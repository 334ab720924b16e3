import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { tryPort } from '../../src/runtime/free-port';
import { countMessagesTaken, knowsBroker } from './ask-rocketmq';
import { fetchRocketmq, JAVA_OPENINGS, writeMqadmin } from './fetch-rocketmq';

const LOCAL = '127.0.0.1';
const READY_TRIES = 900;
const READY_EVERY_MS = 100;
const STOP_LIMIT_MS = 15_000;
/** The broker also listens two below its port, and one above it for replicas. */
const BROKER_NEIGHBOURS = [-2, 0, 1];
/** Below those that the system gives to outgoing connections: a port must be free at every start. */
const PORT_FIRST = 15_000;
const PORT_RANGE = 17_000;

export interface RocketmqOptions {
  /** Scratch folder of this server alone; made when it is missing. */
  readonly dir: string;
  readonly log?: (line: string) => void;
  /** Heap of the broker with its proxy; the name server takes a quarter of it. */
  readonly heapMb?: number;
}

export interface RocketmqServer {
  /** host:port of the proxy, where clients connect (gRPC). */
  readonly endpoints: string;
  /** host:port of the name server, for administration. */
  readonly namesrv: string;
  /** The program `mqadmin`, made for this server. */
  readonly mqadminPath: string;
  readonly pids: readonly number[];
  /** How many messages the broker has taken, of whatever topic, since its data was made. */
  messagesSeen(): Promise<number>;
  /** In order; what was taken is there at the next start. */
  stop(): Promise<void>;
  /** Of the broker and its proxy; the name server stays, as one in a cluster would. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** On the same ports and data. */
  start(): Promise<void>;
}

/** Name server, broker and proxy as two processes. Throws where Maven or Java are missing or fail. */
export const startRocketmq = async (options: RocketmqOptions): Promise<RocketmqServer> => {
  const say = options.log ?? (() => undefined);
  const lib = await fetchRocketmq(say);
  const { dir, heapMb = 512 } = options;
  await mkdir(path.join(dir, 'conf'), { recursive: true });
  const ports = {
    namesrv: await findPort([0]),
    broker: await findPort(BROKER_NEIGHBOURS),
    grpc: await findPort([0]),
    remoting: await findPort([0]),
  };
  const namesrvAddress = `${LOCAL}:${ports.namesrv}`;
  const endpoints = `${LOCAL}:${ports.grpc}`;
  const files = await writeConfiguration(dir, ports);
  const mqadminPath = await writeMqadmin(dir, lib);
  const java = (name: string, heap: number, main: string, args: readonly string[]): JavaProcess =>
    javaProcess(dir, name, [
      `-Xms${Math.min(heap, 64)}m`,
      `-Xmx${heap}m`,
      `-XX:MaxDirectMemorySize=${heap}m`,
      '-XX:+UseSerialGC',
      ...JAVA_OPENINGS,
      `-Duser.home=${dir}`,
      `-Drocketmq.home.dir=${dir}`,
      '-Drocketmq.broker.diskSpaceWarningLevelRatio=0.99',
      '-cp',
      path.join(lib, '*'),
      main,
      ...args,
    ]);
  const namesrv = java(
    'namesrv',
    Math.max(64, Math.floor(heapMb / 4)),
    'org.apache.rocketmq.namesrv.NamesrvStartup',
    ['-c', files.namesrv],
  );
  const broker = java('broker', heapMb, 'org.apache.rocketmq.proxy.ProxyStartup', [
    ...['-pm', 'local', '-bc', files.broker, '-pc', files.proxy, '-n', namesrvAddress],
  ]);

  const start = async (): Promise<void> => {
    namesrv.start();
    await untilListens(ports.namesrv, namesrv);
    broker.start();
    await untilListens(ports.grpc, broker);
    // The port opens before the broker has told the name server about itself.
    await until('the broker is known', () =>
      knowsBroker({ host: LOCAL, port: ports.namesrv }, `${LOCAL}:${ports.broker}`).catch(
        () => false,
      ),
    );
    say(`RocketMQ at ${endpoints}`);
  };
  try {
    await start();
  } catch (error) {
    await Promise.all([broker.end('SIGKILL'), namesrv.end('SIGKILL')]);
    throw error;
  }

  return {
    endpoints,
    namesrv: namesrvAddress,
    mqadminPath,
    get pids() {
      return [namesrv.pid, broker.pid].filter((pid) => pid !== null);
    },
    messagesSeen: () => countMessagesTaken({ host: LOCAL, port: ports.broker }),
    stop: async () => {
      await broker.end('SIGTERM');
      await namesrv.end('SIGTERM');
    },
    kill: (signal = 'SIGKILL') => broker.end(signal),
    start,
  };
};

interface JavaProcess {
  readonly pid: number | null;
  readonly name: string;
  /** Nothing when it runs already. */
  start(): void;
  lastWords(): Promise<string>;
  end(signal: NodeJS.Signals): Promise<void>;
}

const javaProcess = (dir: string, name: string, args: readonly string[]): JavaProcess => {
  let child: ChildProcess | null = null;
  const output = path.join(dir, `${name}.out`);
  const runs = (): boolean =>
    child !== null && child.exitCode === null && child.signalCode === null;
  return {
    name,
    get pid() {
      return runs() ? (child?.pid ?? null) : null;
    },
    start: () => {
      if (runs()) return;
      const file = openSync(output, 'a');
      child = spawn('java', args, {
        cwd: dir,
        stdio: ['ignore', file, file],
        env: { ...process.env, ROCKETMQ_HOME: dir },
      });
      closeSync(file);
    },
    lastWords: async () => (await readFile(output, 'utf8')).split('\n').slice(-12).join('\n'),
    end: async (signal) => {
      const ending = child;
      if (ending === null || !runs()) return;
      if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
        ending.kill(signal);
        return;
      }
      const gone = once(ending, 'exit');
      ending.kill(signal);
      const overdue = setTimeout(() => ending.kill('SIGKILL'), STOP_LIMIT_MS);
      await gone;
      clearTimeout(overdue);
    },
  };
};

interface Ports {
  readonly namesrv: number;
  readonly broker: number;
  readonly grpc: number;
  readonly remoting: number;
}

const writeConfiguration = async (dir: string, ports: Ports) => {
  const namesrv = path.join(dir, 'conf', 'namesrv.conf');
  const broker = path.join(dir, 'conf', 'broker.conf');
  const proxy = path.join(dir, 'conf', 'rmq-proxy.json');
  await writeFile(namesrv, properties({ listenPort: ports.namesrv, bindAddress: LOCAL }));
  await writeFile(
    broker,
    properties({
      brokerClusterName: 'DefaultCluster',
      brokerName: 'broker-a',
      brokerId: 0,
      brokerIP1: LOCAL,
      bindAddress: LOCAL,
      listenPort: ports.broker,
      haListenPort: ports.broker + 1,
      namesrvAddr: `${LOCAL}:${ports.namesrv}`,
      storePathRootDir: path.join(dir, 'store'),
      // As a cluster should be run: what nobody created is missing, and says so.
      autoCreateTopicEnable: false,
      autoCreateSubscriptionGroup: false,
      flushDiskType: 'ASYNC_FLUSH',
      mappedFileSizeCommitLog: 64 * 1024 * 1024,
      diskMaxUsedSpaceRatio: 99,
    }),
  );
  await writeFile(
    proxy,
    JSON.stringify({
      rocketMQClusterName: 'DefaultCluster',
      proxyMode: 'local',
      namesrvAddr: `${LOCAL}:${ports.namesrv}`,
      grpcServerPort: ports.grpc,
      remotingListenPort: ports.remoting,
      // The shortest lease; 10 s where nothing says otherwise.
      minInvisibleTimeMillsForRecv: 1_000,
    }),
  );
  return { namesrv, broker, proxy };
};

const properties = (values: Readonly<Record<string, string | number | boolean>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${String(value)}\n`)
    .join('');

/** A port that is free together with the given neighbours. */
const findPort = async (neighbours: readonly number[]): Promise<number> => {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    const port = PORT_FIRST + Math.floor(Math.random() * PORT_RANGE);
    const found = await Promise.all(neighbours.map((offset) => tryPort(LOCAL, port + offset)));
    if (found.every((each) => each !== null)) return port;
  }
  throw new Error('No free ports for RocketMQ');
};

const untilListens = (port: number, server: JavaProcess): Promise<void> =>
  until(`the ${server.name} listens`, async () => {
    if (server.pid === null) {
      throw new Error(`The ${server.name} ended at its start:\n${await server.lastWords()}`);
    }
    return new Promise((resolve) => {
      const socket = connect(port, LOCAL, () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
  });

const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < READY_TRIES; tries += 1) {
    if (await holds()) return;
    await wait(READY_EVERY_MS);
  }
  throw new Error(`Waited in vain until ${what}`);
};
