import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

import { Client } from 'pg';

import { freePort } from '../../src/runtime/free-port';

const runFile = promisify(execFile);

const LOCAL = '127.0.0.1';
/** Where Debian's package keeps its programs; `pg_dump`, `pg_basebackup` and `pgbench` of the same version lie there, too. */
export const POSTGRES_15_PROGRAMS = '/usr/lib/postgresql/15/bin';
const USER = 'aivedio';
const DATABASE = 'aivedio';
const READY_TRIES = 600;
const READY_EVERY_MS = 50;

export interface Postgres15Options {
  /** Of this server alone; made when it is missing. As root it becomes the account postgres's, which must be able to enter it. */
  readonly dir: string;
  readonly log?: (line: string) => void;
  /** 0 or nothing: any free one. */
  readonly port?: number;
  /** Lines of postgresql.conf, above the defaults of this module. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface Postgres15 {
  /** Of the database `aivedio`, as its owner and superuser. */
  readonly url: string;
  readonly port: number;
  readonly pids: readonly number[];
  /** Transactions that ended since the server's statistics began; a crash empties those. */
  commitsSeen(): Promise<number>;
  /** Fast: open transactions are rolled back. */
  stop(): Promise<void>;
  /** SIGQUIT is an immediate stop, SIGSTOP makes the postmaster deaf; any signal that ends it answers when it is gone. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Again on the same port and data. */
  start(): Promise<void>;
}

/** Postgres 15 of Debian's package on a folder and a port of its own, with a password; as root it runs as the account postgres. */
export const startPostgres15 = async (options: Postgres15Options): Promise<Postgres15> => {
  if (!existsSync(path.join(POSTGRES_15_PROGRAMS, 'postgres'))) {
    throw new Error(
      `There is no Postgres 15 in ${POSTGRES_15_PROGRAMS}: sudo apt-get install postgresql-15`,
    );
  }
  const account = await accountOf();
  const dir = path.resolve(options.dir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chmod(dir, 0o700);
  if (account !== null) await chown(dir, account.uid, account.gid);
  const password = await passwordOf(dir);
  const data = path.join(dir, 'data');
  await initialise(data, path.join(dir, 'password'), account);
  const port = await freePort(LOCAL, options.port ?? 0);
  const url = `postgres://${USER}:${password}@${LOCAL}:${port}/${DATABASE}`;
  const logFile = path.join(dir, 'postgres.log');
  const settings = {
    listen_addresses: LOCAL,
    port: String(port),
    unix_socket_directories: '',
    // Three dozen processes with a handful of connections each, and room for a person.
    max_connections: '300',
    shared_buffers: '64MB',
    log_min_messages: 'warning',
    ...options.settings,
  };
  let server: ChildProcess | null = null;
  const isRunning = (): boolean =>
    server !== null && server.exitCode === null && server.signalCode === null;

  const start = async (): Promise<void> => {
    if (isRunning()) return;
    const output = await open(logFile, 'a');
    try {
      server = spawn(
        path.join(POSTGRES_15_PROGRAMS, 'postgres'),
        [
          '-D',
          data,
          ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
        ],
        { stdio: ['ignore', output.fd, output.fd], cwd: dir, ...(account ?? {}) },
      );
    } finally {
      await output.close();
    }
    await untilAnswers(url, isRunning, logFile);
    options.log?.(`Postgres 15 answers at ${LOCAL}:${port}`);
  };
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === null || !isRunning()) return;
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
      server.kill(signal);
      return;
    }
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
  };

  await start();
  await makeDatabase(url);
  return {
    url,
    port,
    start,
    kill,
    get pids() {
      return isRunning() && server?.pid !== undefined ? [server.pid] : [];
    },
    commitsSeen: () =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ commits: string }>(
          'SELECT xact_commit AS commits FROM pg_stat_database WHERE datname = current_database()',
        );
        return Number(rows[0]?.commits ?? 0);
      }),
    // SIGINT is a fast stop; SIGTERM would wait for every client to leave.
    stop: () => kill('SIGINT'),
  };
};

/**
 * A copy of a server's files, as it stands and while it works, in a folder that `startPostgres15` takes: to restore from, or to
 * follow the server (`standby`).
 */
export const takeBaseBackup = async (
  server: Pick<Postgres15, 'url'>,
  dir: string,
  options: { readonly standby?: boolean } = {},
): Promise<void> => {
  const account = await accountOf();
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (account !== null) await chown(dir, account.uid, account.gid);
  const url = new URL(server.url);
  url.pathname = '/postgres';
  await runFile(
    path.join(POSTGRES_15_PROGRAMS, 'pg_basebackup'),
    [
      ...['-d', url.href, '-D', path.join(dir, 'data'), '-X', 'stream', '-c', 'fast'],
      ...(options.standby === true ? ['-R'] : []),
    ],
    { cwd: dir, ...(account ?? {}) },
  );
  // The copy has the roles of its original, and their passwords.
  await writeFile(path.join(dir, 'password'), decodeURIComponent(url.password), { mode: 0o600 });
};

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Postgres refuses root. */
const accountOf = async (): Promise<Account | null> => {
  if (process.getuid?.() !== 0) return null;
  const line = /^postgres:[^:]*:(\d+):(\d+):/m.exec(await readFile('/etc/passwd', 'utf8'));
  if (line === null) throw new Error('There is no account postgres, which Debian’s package makes');
  return { uid: Number(line[1]), gid: Number(line[2]) };
};

const passwordOf = async (dir: string): Promise<string> => {
  const file = path.join(dir, 'password');
  if (!existsSync(file))
    await writeFile(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return readFile(file, 'utf8');
};

/** A folder that an interrupted start left half made is made again. */
const initialise = async (
  data: string,
  passwordFile: string,
  account: Account | null,
): Promise<void> => {
  if (existsSync(data)) return;
  const draft = `${data}.new`;
  await rm(draft, { recursive: true, force: true });
  if (account !== null) await chown(passwordFile, account.uid, account.gid);
  await runFile(
    path.join(POSTGRES_15_PROGRAMS, 'initdb'),
    [
      ...['-D', draft, '-U', USER, '--pwfile', passwordFile, '--encoding', 'UTF8'],
      ...['--locale', 'C', '--auth', 'scram-sha-256'],
    ],
    { cwd: path.dirname(data), ...(account ?? {}) },
  );
  await runFile('mv', [draft, data]);
};

const makeDatabase = (url: string): Promise<void> => {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  return withClient(maintenance.href, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
      DATABASE,
    ]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
};

const withClient = async <T>(url: string, work: (client: Client) => Promise<T>): Promise<T> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const untilAnswers = async (
  url: string,
  isRunning: () => boolean,
  logFile: string,
): Promise<void> => {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  for (let tries = 0; tries < READY_TRIES && isRunning(); tries += 1) {
    const answered = await withClient(maintenance.href, (client) => client.query('SELECT 1')).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await wait(READY_EVERY_MS);
  }
  const said = await readFile(logFile, 'utf8').catch(() => '');
  throw new Error(`Postgres 15 does not answer: ${said.split('\n').slice(-5).join(' ')}`);
};
