import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { Client } from 'pg';

import { startPostgres15, type Postgres15 } from '../../../cluster/servers/postgres15';
import { describeIfAvailable } from '../../support/requirements';

const ask = async (url: string, sql: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

describeIfAvailable('postgres15', 'the Postgres 15 of the cluster', () => {
  let dir: string;
  let server: Postgres15;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-postgres15-'));
    // Else its account could not enter the folder.
    await chmod(dir, 0o755);
    server = await startPostgres15({ dir: path.join(dir, 'postgres') });
  });

  afterAll(async () => {
    await server.stop();
    expect(server.pids).toEqual([]);
    await rm(dir, { recursive: true, force: true });
  });

  it('is a version 15 with a password', async () => {
    const [row] = await ask(server.url, 'SHOW server_version_num');
    expect(String(row?.['server_version_num'])).toMatch(/^15/);
    const stranger = new URL(server.url);
    stranger.password = 'guessed';
    await expect(ask(stranger.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
  });

  it('has what was committed after an immediate stop, at the same address', async () => {
    const { url } = server;
    await ask(url, 'CREATE TABLE kept (word text)');
    await ask(url, "INSERT INTO kept VALUES ('committed')");
    await server.kill('SIGQUIT');
    await expect(ask(url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
    await server.start();
    expect(server.url).toBe(url);
    expect(await ask(url, 'SELECT word FROM kept')).toEqual([{ word: 'committed' }]);
    const commits = await server.commitsSeen();
    process.stdout.write(`Postgres 15 saw ${commits} commits\n`);
    expect(commits).toBeGreaterThan(0);
  });
});
