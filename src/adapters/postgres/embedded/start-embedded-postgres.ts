import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { NoticeLog } from '../notice-log';

import { prepareDataFolder } from './data-folder';
import type { DataFolder } from './data-folder';
import { EmbeddedPostgresError } from './embedded-postgres-error';
import { initialiseCluster, readOrMakePassword } from './initialise-cluster';
import { describeServerUrls, ensureProductDatabase } from './product-database';
import { runCommand } from './run-command';
import { findRunningServer, readServerPidFile } from './running-server';
import type { RunningServer } from './running-server';
import { prepareServerBinaries } from './server-binaries';
import type { ServerBinaries } from './server-binaries';
import { chooseServerPort, rememberServerPort } from './server-port';
import { writeServerSettings } from './server-settings';
import type { ServerSettings } from './server-settings';
import { resolveServerUser } from './server-user';
import type { ServerUser } from './server-user';
import { isProcessAlive, withStartLock } from './start-lock';

/** Crash recovery after heavy writing takes its time, and giving up early helps nobody. */
const START_WAIT_SECONDS = 120;
const STOP_WAIT_SECONDS = 60;
/** After a crash the old server's children may hold its shared memory for another moment. */
const START_ATTEMPTS_MAX = 4;
const RETRY_DELAY_MS = 500;

export interface EmbeddedPostgresOptions {
  /** Where the data is kept across starts; made when missing. */
  readonly dataDir: string;
  /** A fixed port. Without it the last one is used again, or any free one. */
  readonly port?: number;
  /** Server settings that win over the defaults (tests switch fsync off). */
  readonly settings?: ServerSettings;
  readonly log: NoticeLog;
}

export interface EmbeddedPostgres {
  /** The product's database, as its owner. Holds the password: never log it. */
  readonly url: string;
  /** The database `postgres`, as superuser. */
  readonly superuserUrl: string;
  readonly port: number;
  /** Process id of the server. */
  readonly pid: number;
  /** False when a living process had started it before: then `stop` leaves it running. */
  readonly owned: boolean;
  /** Stops an owned server in order (open transactions roll back). Repeating it changes nothing. */
  stop(): Promise<void>;
}

interface Context {
  readonly folder: DataFolder;
  readonly binaries: ServerBinaries;
  readonly user: ServerUser;
}

/**
 * Starts the Postgres server that the npm packages bring, on 127.0.0.1, for any account including
 * root, and answers once it accepts connections. When one already runs on this data it is used
 * instead, and adopted if whoever started it has died. The server is a process of its own: it
 * outlives a killed caller, and Ctrl-C in the terminal does not reach it before its clients.
 *
 * Throws `EmbeddedPostgresError`, whose message says what to do.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const user = await resolveServerUser();
  const binaries = await prepareServerBinaries(user, options.log);
  const folder = await prepareDataFolder(options.dataDir, user, options.log);
  const context: Context = { folder, binaries, user };
  return withStartLock(folder.lockFile, async () => {
    const password = await readOrMakePassword(folder, user);
    const found = await findRunningServer(folder, password);
    const server = found ?? (await launch(context, options));
    const owned = found === undefined || !(await isOwnedByLivingProcess(folder));
    if (owned) await writeFile(folder.ownerFile, String(process.pid));
    const urls = describeServerUrls(server.port, password);
    await ensureProductDatabase(urls, password);
    return { ...urls, ...server, owned, stop: makeStop(context, owned) };
  });
}

async function isOwnedByLivingProcess(folder: DataFolder): Promise<boolean> {
  const owner = Number(await readFile(folder.ownerFile, 'utf8').catch(() => ''));
  return owner > 0 && isProcessAlive(owner);
}

async function launch(context: Context, options: EmbeddedPostgresOptions): Promise<RunningServer> {
  const { folder, binaries, user } = context;
  await initialiseCluster(folder, binaries, user);
  for (let attempt = 1; ; attempt += 1) {
    const port = await chooseServerPort(folder.portFile, options.port);
    await writeServerSettings(folder, port, options.settings ?? {});
    await rm(folder.startLog, { force: true });
    const result = await runCommand(
      binaries.pgCtl,
      [
        'start',
        '-D',
        folder.cluster,
        '-l',
        folder.startLog,
        '-w',
        '-t',
        String(START_WAIT_SECONDS),
        '-s',
      ],
      { user, workingFolder: folder.root, leavesDaemon: true },
    );
    const server = await readServerPidFile(folder);
    if (result.code === 0 && server !== undefined) {
      await rememberServerPort(folder.portFile, port);
      return server;
    }
    if (attempt === START_ATTEMPTS_MAX) throw await explainFailedStart(folder, result.output);
    await wait(RETRY_DELAY_MS);
  }
}

async function explainFailedStart(
  folder: DataFolder,
  output: string,
): Promise<EmbeddedPostgresError> {
  const said = await readFile(folder.startLog, 'utf8').catch(() => '');
  return new EmbeddedPostgresError(
    `Postgres did not start: ${(said.trim() || output.trim() || 'it said nothing').slice(-2_000)}`,
    `Read ${path.join(folder.cluster, 'log')} for more, or set AIVEDIO_DATABASE_URL to a server of your own.`,
  );
}

function makeStop(context: Context, owned: boolean): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  return () => {
    if (!owned) return Promise.resolve();
    stopping ??= stopServer(context);
    return stopping;
  };
}

async function stopServer({ folder, binaries, user }: Context): Promise<void> {
  const result = await runCommand(
    binaries.pgCtl,
    ['stop', '-D', folder.cluster, '-m', 'fast', '-w', '-t', String(STOP_WAIT_SECONDS), '-s'],
    { user, workingFolder: folder.root },
  );
  await rm(folder.ownerFile, { force: true });
  const remaining = await readServerPidFile(folder);
  if (result.code !== 0 && remaining !== undefined && isProcessAlive(remaining.pid)) {
    throw new EmbeddedPostgresError(
      `Postgres (process ${String(remaining.pid)}) did not stop: ${result.output.trim()}`,
      'Its data is safe; stop that process by hand.',
    );
  }
}
