import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Client } from 'pg';

import { freePort } from '../../src/runtime/free-port';
import { serverProcess } from './server-process';

const runFile = promisify(execFile);

const LOCAL = '127.0.0.1';
const READY_TRIES = 200;
const READY_EVERY_MS = 25;

export interface PgbouncerOptions {
  readonly dir: string;
  readonly log?: (line: string) => void;
  readonly port?: number;
  /** The server behind it, as any of its users; with the password, by which the bouncer logs in. */
  readonly databaseUrl: string;
  /** Server connections for each pair of user and database. */
  readonly poolSize?: number;
  readonly program?: string;
}

export interface Pgbouncer {
  /** The same database through the bouncer, in transaction mode. */
  readonly url: string;
  readonly port: number;
  readonly pids: readonly number[];
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Transactions that clients ran through it since it started. */
  transactionsSeen(): Promise<number>;
}

/** A PgBouncer in transaction mode: a session of a client is a different one of the server with each transaction. */
export const startPgbouncer = async (options: PgbouncerOptions): Promise<Pgbouncer> => {
  await mkdir(options.dir, { recursive: true });
  await chmod(options.dir, 0o755);
  const port = await freePort(LOCAL, options.port ?? 0);
  const target = new URL(options.databaseUrl);
  const database = target.pathname.slice(1);
  const role = decodeURIComponent(target.username);
  const users = path.join(options.dir, 'users.txt');
  const settings = path.join(options.dir, 'pgbouncer.ini');
  const logFile = path.join(options.dir, 'pgbouncer.log');
  await writeFile(users, `"${role}" "${decodeURIComponent(target.password)}"\n`);
  await writeFile(
    settings,
    [
      '[databases]',
      `* = host=${target.hostname} port=${target.port}`,
      '[pgbouncer]',
      ...[`listen_addr = ${LOCAL}`, `listen_port = ${port}`, 'unix_socket_dir ='],
      ...['auth_type = scram-sha-256', `auth_file = ${users}`, `admin_users = ${role}`],
      ...['pool_mode = transaction', `default_pool_size = ${options.poolSize ?? 20}`],
      ...['max_client_conn = 500', ''],
    ].join('\n'),
  );
  const server = serverProcess(
    options.program ?? 'pgbouncer',
    [settings],
    logFile,
    await serverUser(),
  );
  const urlOf = (name: string): string => {
    const url = new URL(options.databaseUrl);
    url.host = `${LOCAL}:${port}`;
    url.pathname = `/${name}`;
    return url.href;
  };

  const start = async (): Promise<void> => {
    server.start();
    for (let tries = 0; tries < READY_TRIES && server.isRunning(); tries += 1) {
      if (await countTransactions(urlOf('pgbouncer'), database).then(isNumber, () => false)) {
        options.log?.(`PgBouncer answers at ${LOCAL}:${port}`);
        return;
      }
      await wait(READY_EVERY_MS);
    }
    const said = await readFile(logFile, 'utf8').catch(() => '');
    throw new Error(
      `PgBouncer does not answer at ${port}: ${said.split('\n').slice(-5).join(' ')}`,
    );
  };
  await start();
  return {
    url: urlOf(database),
    port,
    get pids() {
      return server.pid === null ? [] : [server.pid];
    },
    start,
    // SIGINT would wait for the transactions of its clients.
    stop: () => server.kill('SIGTERM'),
    kill: (signal) => server.kill(signal),
    transactionsSeen: () => countTransactions(urlOf('pgbouncer'), database),
  };
};

/** It refuses to be root: then it is the account of the database. */
const serverUser = async (): Promise<{ readonly uid?: number; readonly gid?: number }> => {
  if (process.getuid?.() !== 0) return {};
  const [uid = 0, gid = 0] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await runFile('id', [flag, 'postgres'])).stdout)),
  );
  return { uid, gid };
};

const isNumber = (value: unknown): boolean => typeof value === 'number';

/** The console speaks the simple protocol only, one statement at a time. */
const countTransactions = async (consoleUrl: string, database: string): Promise<number> => {
  const client = new Client({ connectionString: consoleUrl, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ database: string; total_xact_count: string }>(
      'SHOW STATS',
    );
    const row = rows.find((each) => each.database === database);
    return Number(row?.total_xact_count ?? 0);
  } finally {
    await client.end();
  }
};
