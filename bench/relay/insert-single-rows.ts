import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

const runFile = promisify(execFile);
/** About the size of an outbox row. */
const PAYLOAD = 'x'.repeat(300);

/** Rows a second that `clients` sessions insert one by one, each in a commit of its own that waits for the disk or does not. */
export const insertSingleRows = async (options: {
  readonly databaseUrl: string;
  readonly dir: string;
  readonly clients: number;
  readonly seconds: number;
  readonly synchronousCommit: 'on' | 'off';
}): Promise<{ readonly by: string; readonly ratePerSecond: number }> => {
  const client = new Client({ connectionString: options.databaseUrl });
  await client.connect();
  try {
    await client.query(
      'CREATE TABLE relay_bench (id bigserial PRIMARY KEY, payload text NOT NULL)',
    );
    return await withPgbench(options).catch(() => withOwnLoop(options));
  } finally {
    await client.query('DROP TABLE relay_bench');
    await client.end();
  }
};

type Options = Parameters<typeof insertSingleRows>[0];

const withPgbench = async (options: Options) => {
  const { databaseUrl, dir, clients, seconds, synchronousCommit } = options;
  const script = path.join(dir, 'insert.sql');
  await writeFile(script, `INSERT INTO relay_bench (payload) VALUES ('${PAYLOAD}');\n`);
  const { stdout } = await runFile(
    'pgbench',
    ['-n', '-M', 'prepared', '-c', `${clients}`, '-T', `${seconds}`, '-f', script, databaseUrl],
    { env: { ...process.env, PGOPTIONS: `-c synchronous_commit=${synchronousCommit}` } },
  );
  const found = /^tps = ([\d.]+)/m.exec(stdout);
  if (found === null) throw new Error(`pgbench does not say how many: ${stdout}`);
  return { by: 'pgbench', ratePerSecond: Number(found[1]) };
};

/** Where pgbench is missing or refuses the server. */
const withOwnLoop = async ({ databaseUrl, clients, seconds, synchronousCommit }: Options) => {
  const began = performance.now();
  const until = began + seconds * 1_000;
  const counts = await Promise.all(
    Array.from({ length: clients }, async () => {
      const client = new Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query(`SET synchronous_commit = ${synchronousCommit}`);
      let inserted = 0;
      for (; performance.now() < until; inserted += 1) {
        await client.query({
          name: 'insert',
          text: 'INSERT INTO relay_bench (payload) VALUES ($1)',
          values: [PAYLOAD],
        });
      }
      await client.end();
      return inserted;
    }),
  );
  const inserted = counts.reduce((sum, each) => sum + each, 0);
  return {
    by: 'a loop of Node, for want of pgbench',
    ratePerSecond: inserted / ((performance.now() - began) / 1_000),
  };
};
