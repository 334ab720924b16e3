import { readFile } from 'node:fs/promises';
import path from 'node:path';

import type { BackEnds } from '../cluster/back-ends';
import { startEmbeddedPostgres } from '../src/adapters/postgres/embedded';
import type { Log } from '../src/ports/log';
import { readConfig, type Config } from '../src/runtime/config';
import { freePort } from '../src/runtime/free-port';
import { startPlatform, type Platform } from '../src/runtime/platform';
import { projectRoot } from '../src/runtime/project-root';
import { readEmbeddedState } from '../src/runtime/secrets';
import type { Supervisor } from '../src/runtime/supervisor';
import type { Toxiproxy } from './toxiproxy';

const LOCAL = '127.0.0.1';

/** What both products are opened with. */
export interface Setting {
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly callbackUrl: string;
  readonly toxiproxy: Toxiproxy | null;
  readonly proxied: { readonly postgres: number; readonly provider: number } | null;
  readonly log: Log;
  readonly say: (line: string) => void;
}

export type ProductPlatform = Pick<
  Platform,
  'publicUrl' | 'callbackUrl' | 'sandboxUrl' | 'databaseUrl'
> & { readonly supervisor: Pick<Supervisor, 'pidOf'> };

export interface Product {
  readonly config: Config;
  readonly platform: ProductPlatform;
  /** Of the first tenant, also for operators. */
  readonly token: string;
  /** What another process of it is told, straight to the servers. */
  readonly env: Readonly<Record<string, string>>;
  readonly backEnds: BackEnds | null;
  postmaster(): Promise<number>;
  stopProcesses(): Promise<void>;
  /** Whatever is left. */
  close(): Promise<void>;
}

export const SANDBOX_ARGS = [
  ...['--render', 'instant', '--callback-backoff-ms', '400', '--callback-tries', '9'],
] as const;

export const mediaScript = (): string =>
  path.join(projectRoot(), 'dist', 'chaos', 'media-process.js');

/** The product as `npm start` runs it, on the embedded server, each worker a process of its own. */
export const openProductOfOne = async (setting: Setting): Promise<Product> => {
  const { dataDir, env, log, toxiproxy, proxied } = setting;
  const config = readConfig({
    ...env,
    AIVEDIO_HTTP_PORT: '0',
    AIVEDIO_CALLBACK_PORT: String(await freePort(LOCAL, 0)),
  });
  const databaseUrl = await addressOfDatabase(dataDir, log);
  if (toxiproxy !== null) await toxiproxy.leadTo('postgres', portOf(databaseUrl));
  const platform = await startPlatform({
    config,
    log,
    anyPort: true,
    processes: 'separate',
    scripts: { media: mediaScript() },
    sandboxArgs: SANDBOX_ARGS,
    childEnv: {
      '*': {
        ...env,
        AIVEDIO_CALLBACK_URL: setting.callbackUrl,
        ...(proxied === null
          ? {}
          : { AIVEDIO_DATABASE_URL: withPort(databaseUrl, proxied.postgres) }),
      },
    },
  });
  const token = platform.firstStart?.token;
  const state = readEmbeddedState(dataDir);
  if (token === undefined || state === null)
    throw new Error('A fresh data folder must make its first key');
  return {
    ...{ config, platform, token },
    env: {
      ...env,
      AIVEDIO_DATABASE_URL: platform.databaseUrl,
      AIVEDIO_SIGNING_SECRET: state.signingSecret,
      AIVEDIO_SANDBOX_URL: platform.sandboxUrl,
      AIVEDIO_SANDBOX_API_KEY: state.sandbox.apiKey,
      AIVEDIO_SANDBOX_WEBHOOK_SECRET: state.sandbox.webhookSecret,
      AIVEDIO_PUBLIC_URL: platform.publicUrl,
    },
    backEnds: null,
    postmaster: async () => {
      const file = path.join(dataDir, 'postgres', 'cluster', 'postmaster.pid');
      return Number((await readFile(file, 'utf8')).split('\n')[0]);
    },
    stopProcesses: () => platform.stop(),
    close: () => Promise.resolve(),
  };
};

/** The server keeps its port for the next start, so that the proxy can lead there before the product starts. */
const addressOfDatabase = async (dataDir: string, log: Log): Promise<string> => {
  const server = await startEmbeddedPostgres({ dataDir: path.join(dataDir, 'postgres'), log });
  await server.stop();
  return server.url;
};

export const portOf = (url: string): number => Number(new URL(url).port);

export const withPort = (url: string, port: number): string => {
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
};
