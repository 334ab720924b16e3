import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { locateMediaTools } from '../src/adapters/media/locate-ffmpeg';
import type { WorkerName } from '../src/domain/stages';
import type { Log } from '../src/ports/log';
import { inheritedEnvironment, readConfig, type Config } from '../src/runtime/config';
import { lockDataFolder } from '../src/runtime/data-folder-lock';
import { projectRoot } from '../src/runtime/project-root';
import { createSupervisor, type Supervisor } from '../src/runtime/supervisor';
import { startBackEnds, type BackEnds } from './back-ends';
import { readOrMakeSecrets } from './cluster-secrets';
import { startFront, type Front } from './front';
import { listProcesses, type ClusterProcess } from './list-processes';

const runFile = promisify(execFile);
const LOCAL = '127.0.0.1';
const COMMAND_LIMIT_MS = 180_000;
/** A process that neither drains nor dies is killed after this. */
const KILL_AFTER_MS = 20_000;

/** The product as it runs past one machine: real back ends, and every process by itself, two of each. */
export interface Cluster {
  readonly dataDir: string;
  /** As the processes have it. */
  readonly config: Config;
  readonly env: Readonly<Record<string, string>>;
  readonly backEnds: BackEnds;
  readonly processes: readonly ClusterProcess[];
  readonly supervisor: Supervisor;
  /** One address before both APIs. */
  readonly front: Front;
  /** One address before both callback workers, as the provider knows it. */
  readonly callbackFront: Front;
  readonly sandboxUrl: string;
  readonly sandboxApiKey: string;
  /** Of the first tenant, also for operators. */
  readonly apiKey: string;
  /** Ends the processes of the product; the back ends stay. */
  stopProduct(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly dataDir: string;
  readonly say: (line: string) => void;
  readonly log: Log;
  /** More environment for every process of the product. */
  readonly env?: Readonly<Record<string, string>>;
  readonly sandboxArgs?: readonly string[];
  /** Another program for a worker, as a path. */
  readonly scripts?: Readonly<Partial<Record<WorkerName, string>>>;
  /** Changes what the processes are told of the back ends: a proxy in between. */
  readonly backEndEnv?: (
    env: Readonly<Record<string, string>>,
  ) => Promise<Readonly<Record<string, string>>>;
}

export const openCluster = async (options: ClusterOptions): Promise<Cluster> => {
  const unlock = lockDataFolder(options.dataDir);
  const undo: (() => Promise<void> | void)[] = [unlock];
  const stop = once(async () => {
    for (const each of undo.reverse()) await each();
  });
  try {
    return { ...(await openLocked(options, (each) => void undo.push(each))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const openLocked = async (
  options: ClusterOptions,
  later: (undo: () => Promise<void> | void) => void,
): Promise<Omit<Cluster, 'stop'>> => {
  const { dataDir, say } = options;
  const secrets = await readOrMakeSecrets(dataDir);
  say('Starting Postgres, RocketMQ, Redis and the S3 server …');
  const backEnds = await startBackEnds(dataDir, say);
  later(() => backEnds.stop());
  const processes = await listProcesses(options.scripts ?? {});
  const frontOf = (kind: ClusterProcess['kind']): Promise<Front> => {
    const behind = processes.filter((each) => each.kind === kind);
    return startFront({
      host: LOCAL,
      port: 0,
      targets: behind.flatMap(({ port }) => port ?? []),
      readyUrls: behind.map(({ healthUrl }) => `${healthUrl}/readyz`),
    });
  };
  const front = await frontOf('api');
  later(() => front.stop());
  const callbackFront = await frontOf('callback');
  later(() => callbackFront.stop());
  const sandboxUrl = `http://${LOCAL}:${secrets.sandboxPort}`;
  const tools = await locateMediaTools({ cacheDir: path.join(dataDir, 'tools') });
  const told = {
    AIVEDIO_DATA_DIR: dataDir,
    AIVEDIO_SIGNING_SECRET: secrets.signingSecret,
    AIVEDIO_SANDBOX_URL: sandboxUrl,
    AIVEDIO_SANDBOX_API_KEY: secrets.sandboxApiKey,
    AIVEDIO_SANDBOX_WEBHOOK_SECRET: secrets.sandboxWebhookSecret,
    AIVEDIO_PUBLIC_URL: front.url,
    AIVEDIO_CALLBACK_URL: callbackFront.url,
    AIVEDIO_FFMPEG: tools.ffmpeg,
    AIVEDIO_FFPROBE: tools.ffprobe,
    AIVEDIO_POOL_MAX: '3',
    // The fronts look four times a second.
    AIVEDIO_UNREADY_MS: '1000',
    ...options.env,
  };
  const direct = { ...told, ...backEnds.env };
  say('Preparing database and topics by the product’s own commands …');
  const apiKey = await prepare(direct, say);
  const env = { ...told, ...((await options.backEndEnv?.(backEnds.env)) ?? backEnds.env) };
  const supervisor = createSupervisor({
    // The processes ring over Postgres, as on machines of their own.
    bells: { attach: () => () => undefined },
    logDir: path.join(dataDir, 'logs'),
    log: options.log,
    inherited: inheritedEnvironment(),
    killAfterMs: KILL_AFTER_MS,
    restartMsMax: 1_000,
  });
  const stopProduct = once(() => supervisor.stop());
  later(stopProduct);
  say(`Starting the sandbox provider and ${processes.length} processes of the product …`);
  await startProcesses(options, supervisor, env, processes, secrets.sandboxPort);
  return {
    ...{ dataDir, env, backEnds, processes, supervisor, front, callbackFront, sandboxUrl, apiKey },
    config: readConfig(direct),
    sandboxApiKey: secrets.sandboxApiKey,
    stopProduct,
  };
};

/** What an operator runs before the first start of a version; each can be run again. */
const PREPARATIONS: readonly (readonly string[])[] = [['migrate.js'], ['cli.js', 'bus', 'create']];

const prepare = async (
  env: Readonly<Record<string, string>>,
  say: (line: string) => void,
): Promise<string> => {
  const run = async ([script = '', ...words]: readonly string[]): Promise<string> => {
    const { stdout } = await runFile(
      process.execPath,
      [path.join(projectRoot(), 'dist', 'src', script), ...words],
      { env: { ...inheritedEnvironment(), ...env }, timeout: COMMAND_LIMIT_MS },
    ).catch((error: unknown) => {
      const { stdout: said = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`${[script, ...words].join(' ')} failed: ${stderr || said}`, {
        cause: error,
      });
    });
    return stdout;
  };
  for (const words of PREPARATIONS) {
    await run(words);
    say(`  ${words.join(' ')}: done`);
  }
  return (await run(['issue-key.js', '--operator', '--name', 'Cluster'])).trim();
};

const startProcesses = async (
  options: ClusterOptions,
  supervisor: Supervisor,
  env: Readonly<Record<string, string>>,
  processes: readonly ClusterProcess[],
  sandboxPort: number,
): Promise<void> => {
  await supervisor.run({
    name: 'sandbox',
    script: path.join(projectRoot(), 'dist', 'sandbox', 'main.js'),
    args: [
      ...['--port', String(sandboxPort), '--data', path.join(options.dataDir, 'sandbox')],
      ...['--concurrency', String(readConfig(env).sandbox.concurrency)],
      ...(options.sandboxArgs ?? []),
    ],
    env,
    readyUrl: `http://${LOCAL}:${sandboxPort}/v1/account`,
  });
  // Few at a time: two dozen at once would wait for two processors rather than start.
  const queue = [...processes];
  const lane = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { name, script, env: own } = next;
      await supervisor.run({ name, script, args: [], env: { ...env, ...own } });
    }
  };
  await Promise.all(Array.from({ length: START_LANES }, lane));
};

const START_LANES = 4;

const once = (work: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<void> | null = null;
  return () => (running ??= work());
};
