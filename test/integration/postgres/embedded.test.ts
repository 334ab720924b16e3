import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { Client } from 'pg';

import {
  EmbeddedPostgresError,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/adapters/postgres/embedded';
import { describeAsRoot } from '../../support/requirements';
import { makeServerFolder } from '../../support/test-server';

jest.setTimeout(60_000);

const POLL_MS = 20;

const notices: string[] = [];
const log = {
  info: (message: string) => void notices.push(message),
  warn: (message: string) => void notices.push(message),
};

/** Making a cluster is what takes long, so the tests share one, each with a table of its own. */
let folder: string;
const folders: string[] = [];
const running: EmbeddedPostgres[] = [];

beforeAll(async () => {
  folder = await makeFolder();
});

beforeEach(() => {
  notices.length = 0;
});

afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

afterAll(async () => {
  for (const each of folders) await rm(each, { recursive: true, force: true });
});

async function makeFolder(): Promise<string> {
  const made = await makeServerFolder();
  folders.push(made);
  return made;
}

async function start(options: { port?: number; dataDir?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: folder, log, ...options });
  running.push(server);
  return server;
}

async function query<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function waitUntilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    await wait(POLL_MS);
  }
}

/** As when the machine loses power: nobody gets to say goodbye. */
async function killHard(server: EmbeddedPostgres): Promise<void> {
  const children = await query<{ pid: number }>(
    server.superuserUrl,
    'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()',
  );
  process.kill(server.pid, 'SIGKILL');
  await Promise.all([server.pid, ...children.map(({ pid }) => pid)].map(waitUntilGone));
}

test('keeps data, password and port from one start to the next', async () => {
  const first = await start();
  await query(first.url, "CREATE TABLE kept (text text); INSERT INTO kept VALUES ('kept')");
  await first.stop();
  await expect(query(first.url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);

  const second = await start();
  expect(second.url).toBe(first.url);
  expect(await query(second.url, 'SELECT text FROM kept')).toEqual([{ text: 'kept' }]);
});

test('is durable, reachable from this machine only, and opened by a password only', async () => {
  const server = await start();
  const names = [
    'fsync',
    'full_page_writes',
    'synchronous_commit',
    'wal_compression',
    'listen_addresses',
    'unix_socket_directories',
    'idle_in_transaction_session_timeout',
    'max_connections',
    'data_checksums',
  ];
  const rows = await query<{ name: string; setting: string }>(
    server.superuserUrl,
    `SELECT name, setting FROM pg_settings WHERE name IN ('${names.join("','")}')`,
  );
  expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    wal_compression: 'pglz',
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    idle_in_transaction_session_timeout: '60000',
    max_connections: '200',
    data_checksums: 'on',
  });
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  expect((await stat(path.join(folder, 'password'))).mode & 0o777).toBe(0o600);
  expect(notices.join()).not.toContain(new URL(server.url).password);
});

test('gives the product a role that owns its database and is no superuser', async () => {
  const { url } = await start();
  const rows = await query(
    url,
    `SELECT current_user AS role, rolsuper, pg_get_userbyid(datdba) AS owner
     FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
  );
  expect(rows).toEqual([{ role: 'aivedio', rolsuper: false, owner: 'aivedio' }]);
});

test('a second starter uses the running server and does not stop it', async () => {
  const first = await start();
  const second = await start();
  expect(second).toMatchObject({ owned: false, pid: first.pid, url: first.url });
  await second.stop();
  expect(await query(first.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('starters at the same moment end up on one server', async () => {
  const servers = await Promise.all([start(), start(), start()]);
  expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1);
  expect(servers.filter(({ owned }) => owned)).toHaveLength(1);
});

test('starts again after the server was killed, with all that was committed', async () => {
  const killed = await start();
  await query(killed.url, "CREATE TABLE note (text text); INSERT INTO note VALUES ('committed')");
  await killHard(killed);

  const restarted = await start();
  expect(restarted.owned).toBe(true);
  expect(restarted.pid).not.toBe(killed.pid);
  expect(await query(restarted.url, 'SELECT text FROM note')).toEqual([{ text: 'committed' }]);
});

test('is not fooled by another process that has got the number of the killed server', async () => {
  const killed = await start();
  await killHard(killed);
  const pidFile = path.join(folder, 'cluster', 'postmaster.pid');
  const lines = (await readFile(pidFile, 'utf8')).split('\n');
  await writeFile(pidFile, [String(process.pid), ...lines.slice(1)].join('\n'));

  const restarted = await start();
  expect(restarted.owned).toBe(true);
});

test('adopts the server of a process that has died, and may then stop it', async () => {
  const orphan = await start();
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  await writeFile(path.join(folder, 'owner'), String(dead.pid));

  const adopted = await start();
  expect(adopted).toMatchObject({ owned: true, pid: orphan.pid });
  await adopted.stop();
  await expect(query(orphan.url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
});

test('takes over the start lock of a process that died while starting', async () => {
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  await writeFile(path.join(folder, 'starting'), String(dead.pid));
  expect((await start()).owned).toBe(true);
});

test('begins anew when the first initialisation was cut short', async () => {
  const dataDir = await makeFolder();
  await mkdir(path.join(dataDir, 'cluster.new', 'base'), { recursive: true });
  expect((await start({ dataDir })).owned).toBe(true);
});

test('chooses another port when the last one is taken, and refuses a taken port it was told to use', async () => {
  const first = await start();
  await first.stop();
  const intruder = createServer();
  intruder.listen(first.port, '127.0.0.1');
  await once(intruder, 'listening');
  const { port } = intruder.address() as AddressInfo;

  await expect(start({ port })).rejects.toThrow(`Port ${String(port)} is taken`);
  expect((await start()).port).not.toBe(port);
  intruder.close();
});

test('says what to do when the password of existing data is gone', async () => {
  const server = await start();
  await server.stop();
  const file = path.join(folder, 'password');
  await rename(file, `${file}.away`);
  await expect(start()).rejects.toThrow(EmbeddedPostgresError);
  await expect(start()).rejects.toThrow(/Restore it from a copy/);
  await rename(`${file}.away`, file);
});

describeAsRoot('as root', () => {
  test('below a closed folder, keeps the data elsewhere and says where', async () => {
    const dataDir = path.join(await makeFolder(), 'data');
    const server = await start({ dataDir });
    const moved = (await readFile(path.join(dataDir, 'moved-to'), 'utf8')).trim();
    expect(notices.join()).toContain(moved);
    await query(server.url, 'CREATE TABLE note (text text)');
    await server.stop();

    const again = await start({ dataDir });
    expect(await query(again.url, 'SELECT text FROM note')).toEqual([]);
    await again.stop();
    await rm(moved, { recursive: true });
  });
});
