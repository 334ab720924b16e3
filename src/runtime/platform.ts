import os from 'node:os';
import path from 'node:path';

import { locateMediaTools } from '../adapters/media/locate-ffmpeg';
import { createPostgresBell } from '../adapters/postgres/bell/postgres-bell';
import { createBellSwitch } from '../adapters/process-bell/bell-switch';
import type { WorkerName } from '../domain/stages';
import type { Log } from '../ports/log';
import { inheritedEnvironment, type Config } from './config';
import { lockDataFolder } from './data-folder-lock';
import { keepDatabase } from './database-keeper';
import { freePort, tryPort } from './free-port';
import { fillDatabase, migrate, prepareEmbedded, type FirstStart } from './prepare';
import { projectRoot } from './project-root';
import { readEmbeddedState, writeEmbeddedState } from './secrets';
import { createSupervisor, type Supervisor } from './supervisor';
import { planProcesses, type PlannedProcess, type ProcessMode } from './worker-groups';

export interface Platform {
  readonly publicUrl: string;
  readonly callbackUrl: string;
  readonly sandboxUrl: string;
  readonly databaseUrl: string;
  /** Null after the first start of a data folder. */
  readonly firstStart: FirstStart | null;
  readonly supervisor: Supervisor;
  /** Which workers share a process. */
  readonly processes: readonly PlannedProcess[];
  stop(): Promise<void>;
}

export interface PlatformOptions {
  readonly config: Config;
  readonly log: Log;
  /** Take another port when a configured one is taken, instead of refusing to start. */
  readonly anyPort: boolean;
  /** How the workers are spread over processes; what the configuration says when it is not given. */
  readonly processes?: ProcessMode;
  /** More environment for the children, by name of the process or of a worker in it (`*` for all): crash points, faults, settings. */
  readonly childEnv?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Another program for a worker that has a process of its own, as a path. */
  readonly scripts?: Readonly<Partial<Record<WorkerName, string>>>;
  readonly sandboxArgs?: readonly string[];
  /** The longest pause before a process that keeps dying is started again (tests that kill many). */
  readonly restartMsMax?: number;
  /** False: an embedded server that dies stays dead (tests of its absence). */
  readonly healDatabase?: boolean;
}

const LOCAL = '127.0.0.1';
/** Workers started by hand beside these hear at once when all was quiet, and in a burst this often. */
const FAR_RING_MS = 1_000;

/**
 * The whole product on one machine: embedded Postgres, the sandbox provider, the API and every worker, in processes of their own.
 * Data, logs and secrets stay below the data folder.
 */
export const startPlatform = async (options: PlatformOptions): Promise<Platform> => {
  const unlock = lockDataFolder(options.config.dataDir);
  try {
    const platform = await startLocked(options);
    return {
      ...platform,
      stop: async () => {
        await platform.stop();
        unlock();
      },
    };
  } catch (error) {
    unlock();
    throw error;
  }
};

const startLocked = async (options: PlatformOptions): Promise<Platform> => {
  const { config, log } = options;
  const ports = await choosePorts(options);
  const sandboxUrl = `http://${LOCAL}:${ports.sandbox}`;
  const tools = await locateMediaTools({
    ...(config.ffmpeg === null ? {} : { ffmpegPath: config.ffmpeg }),
    ...(config.ffprobe === null ? {} : { ffprobePath: config.ffprobe }),
    cacheDir: path.join(config.dataDir, 'tools'),
  });
  if (tools.notice !== null) log.warn(tools.notice);
  const { state, server } = await prepareEmbedded(config, sandboxUrl, log);
  const bells = createBellSwitch(
    createPostgresBell({ connectionString: server.url, log, burstIntervalMs: FAR_RING_MS }),
    log,
  );
  const supervisor = createSupervisor({
    bells,
    logDir: path.join(config.dataDir, 'logs'),
    log,
    inherited: inheritedEnvironment(),
    killAfterMs: config.drainMs * 2 + 2_000,
    ...(options.restartMsMax === undefined ? {} : { restartMsMax: options.restartMsMax }),
  });
  const database =
    options.healDatabase === false
      ? server
      : keepDatabase(server, path.join(config.dataDir, 'postgres'), log);
  const stop = async (): Promise<void> => {
    await supervisor.stop();
    await bells.close();
    await database.stop();
  };
  try {
    await migrate(server.url, log);
    const firstStart = await fillDatabase(config, server.url, sandboxUrl, log);
    const publicUrl =
      config.publicUrl.endsWith(':0') || options.anyPort
        ? `http://${config.http.host}:${ports.http}`
        : config.publicUrl;
    const callbackUrl = `http://${config.callback.host}:${ports.callback}`;
    const env = {
      AIVEDIO_BELL: 'parent',
      AIVEDIO_NODE: `${os.hostname()}:${config.dataDir}`.slice(-200),
      AIVEDIO_DATABASE_URL: server.url,
      AIVEDIO_DATA_DIR: config.dataDir,
      AIVEDIO_SIGNING_SECRET: state.signingSecret,
      AIVEDIO_SANDBOX_URL: sandboxUrl,
      AIVEDIO_SANDBOX_API_KEY: state.sandbox.apiKey,
      AIVEDIO_SANDBOX_WEBHOOK_SECRET: state.sandbox.webhookSecret,
      AIVEDIO_HTTP_PORT: String(ports.http),
      AIVEDIO_CALLBACK_PORT: String(ports.callback),
      AIVEDIO_PUBLIC_URL: publicUrl,
      AIVEDIO_CALLBACK_URL: callbackUrl,
      AIVEDIO_FFMPEG: tools.ffmpeg,
      AIVEDIO_FFPROBE: tools.ffprobe,
    };
    const processes = planProcesses(
      options.processes ?? config.processes,
      os.availableParallelism(),
    );
    await startChildren(options, supervisor, env, ports.sandbox, processes);
    writeEmbeddedState(config.dataDir, { ...state, publicUrl });
    return {
      publicUrl,
      callbackUrl,
      sandboxUrl,
      databaseUrl: server.url,
      firstStart,
      supervisor,
      processes,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const choosePorts = async (
  options: PlatformOptions,
): Promise<{ http: number; callback: number; sandbox: number }> => {
  const { config } = options;
  const before = readEmbeddedState(config.dataDir)?.sandbox.url;
  const sandbox = await freePort(LOCAL, before === undefined ? 0 : Number(new URL(before).port));
  const taken: string[] = [];
  const pick = async (variable: string, host: string, wanted: number): Promise<number> => {
    if (options.anyPort || wanted === 0) return freePort(host, wanted);
    const bound = await tryPort(host, wanted);
    if (bound === null)
      taken.push(
        `${variable}: port ${wanted} on ${host} is taken; stop what uses it or set another port`,
      );
    return wanted;
  };
  const http = await pick('AIVEDIO_HTTP_PORT', config.http.host, config.http.port);
  const callback = await pick('AIVEDIO_CALLBACK_PORT', config.callback.host, config.callback.port);
  if (taken.length > 0) throw new Error(taken.join('\n'));
  return { http, callback, sandbox };
};

const startChildren = async (
  options: PlatformOptions,
  supervisor: Supervisor,
  env: Readonly<Record<string, string>>,
  sandboxPort: number,
  processes: readonly PlannedProcess[],
): Promise<void> => {
  const dist = path.join(projectRoot(), 'dist');
  const names = ['api', ...processes.map(({ name }) => name)];
  const envOf = (name: string): Record<string, string> => ({
    ...env,
    ...healthPortOf(options.config, names.indexOf(name)),
    ...options.childEnv?.['*'],
    ...options.childEnv?.[name],
  });
  const startWorkers = ({ name, workers }: PlannedProcess): Promise<void> => {
    const isAlone = workers.length === 1 && workers[0] === name;
    if (isAlone) {
      const script = options.scripts?.[name] ?? path.join(dist, `src/workers/${name}/main.js`);
      return supervisor.run({ name, script, args: [], env: envOf(name) });
    }
    return supervisor.run({
      name,
      script: path.join(dist, 'src/worker-group.js'),
      args: [name, ...workers],
      env: {
        AIVEDIO_POOL_MAX: String(poolOf(options.config, workers.length)),
        ...Object.assign({}, ...workers.map(envOf)),
        ...envOf(name),
      },
      workers,
    });
  };
  await Promise.all([
    supervisor.run({
      name: 'sandbox',
      script: path.join(dist, 'sandbox', 'main.js'),
      args: [
        ...['--port', String(sandboxPort), '--data', path.join(options.config.dataDir, 'sandbox')],
        ...['--concurrency', String(options.config.sandbox.concurrency)],
        ...(options.sandboxArgs ?? []),
      ],
      env: envOf('sandbox'),
      readyUrl: `http://${LOCAL}:${sandboxPort}/v1/account`,
    }),
    supervisor.run({
      name: 'api',
      script: path.join(dist, 'src/api.js'),
      args: [],
      env: envOf('api'),
    }),
    ...processes.map(startWorkers),
  ]);
};

/** The processes of one machine count up from the configured port, the API first; the sandbox has none. */
const healthPortOf = ({ healthPort }: Config, index: number): Record<string, string> => ({
  AIVEDIO_HEALTH_PORT: healthPort === null || index < 0 ? '' : String(healthPort + index),
});

const GROUP_POOL_MAX = 16;

/** Connections of workers that share a process are shared too, and more than this would only wait for a processor. */
const poolOf = (config: Config, workers: number): number =>
  Math.min(config.poolMax * workers, Math.max(GROUP_POOL_MAX, config.poolMax));
