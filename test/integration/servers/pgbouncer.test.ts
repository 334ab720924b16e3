import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import { startPgbouncer, type Pgbouncer } from '../../../cluster/servers/pgbouncer';
import { startPostgres15, type Postgres15 } from '../../../cluster/servers/postgres15';
import { describeIfAvailable } from '../../support/requirements';

const ask = async (url: string, text: string): Promise<unknown> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows[0];
  } finally {
    await client.end();
  }
};

describeIfAvailable('pgbouncer', 'a PgBouncer before the Postgres of the cluster', () => {
  let dir: string;
  let server: Postgres15;
  let bouncer: Pgbouncer;

  beforeAll(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'aivedio-pgbouncer-'));
    await chmod(dir, 0o755);
    server = await startPostgres15({ dir: path.join(dir, 'postgres') });
    bouncer = await startPgbouncer({ dir: path.join(dir, 'bouncer'), databaseUrl: server.url });
  }, 60_000);

  afterAll(async () => {
    await bouncer.stop();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  it('passes transactions on, and counts them', async () => {
    expect(await ask(bouncer.url, 'SELECT current_user AS name')).toEqual({ name: 'aivedio' });
    const seen = await bouncer.transactionsSeen();
    process.stdout.write(`PgBouncer saw ${seen} transactions\n`);
    expect(seen).toBeGreaterThan(0);
  });

  it('comes back at the same address after it was killed', async () => {
    await bouncer.kill('SIGKILL');
    expect(bouncer.pids).toEqual([]);
    await expect(ask(bouncer.url, 'SELECT 1')).rejects.toThrow(/ECONNREFUSED/);
    await bouncer.start();
    expect(await ask(bouncer.url, 'SELECT 2 AS two')).toEqual({ two: 2 });
  });

  it('does not run as root', async () => {
    const { stdout } = await promisify(execFile)('ps', [
      ...['-o', 'user=', '-p', String(bouncer.pids[0])],
    ]);
    expect(stdout.trim()).not.toBe('root');
  });
});
