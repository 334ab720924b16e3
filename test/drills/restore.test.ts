import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

import { Client } from 'pg';

import {
  POSTGRES_15_PROGRAMS,
  startPostgres15,
  takeBaseBackup,
  type Postgres15,
} from '../../cluster/servers/postgres15';
import { inheritedEnvironment } from '../../src/runtime/config';
import { projectRoot } from '../../src/runtime/project-root';
import { eventually } from '../support/eventually';
import { describeIfAvailable } from '../support/requirements';
import {
  openDrillProduct,
  openDrillWorld,
  type DrillProduct,
  type DrillWorld,
} from './drill-world';

const run = promisify(execFile);

const QUICK = 5;
/** Three more than there are places at the provider. */
const SLOW = 7;
const EARLY = QUICK + SLOW;
/** Committed after the instant of the restore: the restored database has never heard of them. */
const FORGOTTEN = 3;
const ENDS = ['SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED'];
const PATIENCE_MS = 150_000;

describeIfAvailable('postgres15', 'a database restored to the past', () => {
  let world: DrillWorld;
  let origin: Postgres15;
  let lost: DrillProduct;
  let instant: string;
  let dump: string;
  let archive: string;
  let jobsMade: number;
  let known: readonly string[];
  const undo: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    world = await openDrillWorld();
    undo.push(() => world.close());
    archive = path.join(world.dir, 'archive');
    dump = path.join(world.dir, 'dump');
    await mkdir(archive);
    await chmod(archive, 0o777);
    origin = await startPostgres15({
      dir: path.join(world.dir, 'origin'),
      settings: { archive_mode: 'on', archive_command: `cp %p ${archive}/%f` },
    });
    undo.push(() => origin.kill('SIGQUIT'));
    lost = await openDrillProduct(world, origin.url);
    undo.push(() => lost.close());
    await lost.start();
    const first = await lost.create(QUICK);
    await takeBaseBackup(origin, path.join(world.dir, 'by-instant'));
    // Some have ended, some run, and some have no attempt yet: those are the ones that a careless restore pays for twice.
    const counted = (what: string, holds: (counts: Readonly<Record<string, number>>) => boolean) =>
      eventually(what, async () => (holds(await lost.countByStatus()) ? true : null), PATIENCE_MS);
    await counted('some have ended', ({ SUCCEEDED = 0 }) => SUCCEEDED >= 1);
    known = [...first, ...(await lost.create(SLOW, 'slowly'))];
    // Those under way keep their places for seconds: the others wait as long, on any machine.
    await counted('some run, some wait', ({ QUEUED = 0 }) => QUEUED >= 2 && QUEUED < SLOW);
    instant = await instantOf(lost);
    await run(path.join(POSTGRES_15_PROGRAMS, 'pg_dump'), ['-Fc', '-f', dump, '-d', origin.url]);
    await lost.create(FORGOTTEN);
    await untilAllEnded(lost);
    await untilArchived(lost);
    await lost.kill();
    await lost.close();
    await origin.kill('SIGQUIT');
    jobsMade = (await world.sandbox.jobs()).length;
    expect(jobsMade).toBe(EARLY + FORGOTTEN);
  }, 400_000);

  afterAll(async () => {
    for (const each of undo.reverse()) await each();
  }, 60_000);

  it('goes on from a dump without paying twice, once an operator has said so', async () => {
    const server = await startPostgres15({ dir: path.join(world.dir, 'by-dump') });
    undo.push(() => server.kill('SIGQUIT'));
    await run(path.join(POSTGRES_15_PROGRAMS, 'pg_restore'), [
      '--no-owner',
      '-d',
      server.url,
      dump,
    ]);
    await goOn(server.url, async (product) => {
      // The forgotten generations' jobs, which nobody waits for.
      expect(await tellRestored(product)).toMatchObject({
        code: 1,
        out: expect.stringMatching(/^UNTRACKED/m) as string,
      });
    });
  }, 400_000);

  it('goes on from a base backup and the log up to an instant without paying twice, and notices by itself', async () => {
    const dir = path.join(world.dir, 'by-instant');
    await writeFile(path.join(dir, 'data', 'recovery.signal'), '');
    const server = await startPostgres15({
      dir,
      settings: {
        restore_command: `cp ${archive}/%f %p`,
        recovery_target_time: instant,
        recovery_target_action: 'promote',
      },
    });
    undo.push(() => server.kill('SIGQUIT'));
    await eventually('the copy takes writes', () => isPrimary(server.url), PATIENCE_MS);
    const lives = await goOn(server.url, () => Promise.resolve());
    expect(lives).toBeGreaterThanOrEqual(2);
  }, 400_000);

  /** Starts the product on a restored database and follows all of it to the end; answers how many lives the database counts. */
  const goOn = async (
    url: string,
    beforeStart: (product: DrillProduct) => Promise<void>,
  ): Promise<number> => {
    const product = await openDrillProduct(world, url);
    try {
      const before = await product.countByStatus();
      expect(Object.values(before).reduce((sum, count) => sum + count, 0)).toBe(EARLY);
      expect(before['QUEUED']).toBeGreaterThan(0);
      await beforeStart(product);
      await product.start();
      await untilAllEnded(product);
      await expectOneJobOneCharge(product);
      await replayAll(product);
      await expectOneJobOneCharge(product);
      const { out } = await tellRestored(product);
      expect(out).toMatch(/^awaited +0 /m);
      const untracked = out.split('\n').filter((line) => line.startsWith('UNTRACKED'));
      expect(untracked).toHaveLength(FORGOTTEN);
      expect((await product.verify()).violations).toEqual([]);
      const { rows } = await product.pool.query<{ lives: number }>(
        'SELECT count(*)::int AS lives FROM database_lives WHERE declared_by IS NULL',
      );
      return rows[0]?.lives ?? 0;
    } finally {
      await product.kill();
      await product.close();
    }
  };

  const expectOneJobOneCharge = async (product: DrillProduct): Promise<void> => {
    const jobs = await world.sandbox.jobs();
    // Not one more: every submit that was sent before was found.
    expect(jobs).toHaveLength(jobsMade);
    const { rows } = await product.pool.query<{ id: string; status: string; kinds: string[] }>(
      `SELECT t.id, t.status, array_agg(l.kind ORDER BY l.kind) AS kinds
       FROM generation_tasks t LEFT JOIN credit_ledger l ON l.task_id = t.id GROUP BY t.id, t.status`,
    );
    expect(rows.map(({ id }) => id).sort()).toEqual([...known].sort());
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'SUCCEEDED', kinds: ['RESERVE', 'SETTLE'] });
    }
    const { rows: attempts } = await product.pool.query<{ job_id: string | null }>(
      "SELECT job_id FROM task_attempts WHERE status = 'SUCCEEDED'",
    );
    const bound = attempts.map((attempt) => attempt.job_id);
    expect(new Set(bound).size).toBe(EARLY);
    expect(jobs.map(({ id }) => id)).toEqual(expect.arrayContaining(bound));
  };

  const tellRestored = async (
    product: DrillProduct,
  ): Promise<{ readonly code: number; readonly out: string }> => {
    const since = new Date(Date.parse(instant) - 3_600_000).toISOString();
    const child = run(
      process.execPath,
      [
        path.join(projectRoot(), 'dist/src/cli.js'),
        ...['restored', '--since', since, '--by', 'drill', '--reason', 'a restore drill'],
      ],
      { env: { ...inheritedEnvironment(), ...product.env } },
    );
    return child.then(
      ({ stdout }) => ({ code: 0, out: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        out: `${error.stdout}${error.stderr}`,
      }),
    );
  };
});

/** Every message there ever was comes once more under its own id; of half of them the dedup rows are gone as well. */
const replayAll = async ({ pool }: DrillProduct): Promise<void> => {
  await pool.query(`DELETE FROM inbox_dedup WHERE get_byte(uuid_send(event_id), 15) % 2 = 0`);
  const { rowCount } = await pool.query(
    `UPDATE outbox_events SET status = 'PENDING', published_at = NULL, available_at = clock_timestamp()`,
  );
  expect(rowCount).toBeGreaterThan(EARLY * 5);
  await untilQuiet(pool);
};

const untilAllEnded = async (product: DrillProduct): Promise<void> => {
  await eventually(
    'every generation has ended',
    async () => {
      const counts = await product.countByStatus();
      return Object.keys(counts).every((status) => ENDS.includes(status)) ? true : null;
    },
    PATIENCE_MS,
  ).catch(async (error: unknown) => {
    throw new Error(`${String(error)}\n${await describeState(product)}`);
  });
  await untilQuiet(product.pool);
};

/** What a person would look at first. */
const describeState = async ({ pool }: DrillProduct): Promise<string> => {
  const { rows } = await pool.query(
    `SELECT t.status, t.version, a.attempt_no, a.status AS attempt, a.job_id, a.sent_at, a.lease_until, t.wait_reason, a.error_code
     FROM generation_tasks t LEFT JOIN task_attempts a ON a.task_id = t.id WHERE NOT t.status = ANY ($1)`,
    [ENDS],
  );
  const { rows: messages } = await pool.query(
    'SELECT consumer_group, type, status, deliveries, available_at, last_error FROM bus_messages',
  );
  const { rows: lives } = await pool.query('SELECT * FROM database_lives');
  return [...rows, ...messages, ...lives].map((row) => JSON.stringify(row)).join('\n');
};

/** Nothing is left to publish or to handle, but for what is planned for later. */
const untilQuiet = (pool: DrillProduct['pool']): Promise<true> =>
  eventually(
    'every message is handled',
    async () => {
      const { rows } = await pool.query<{ left: number }>(
        `SELECT ((SELECT count(*) FROM outbox_events WHERE status = 'PENDING' AND available_at <= clock_timestamp())
               + (SELECT count(*) FROM bus_messages WHERE available_at <= clock_timestamp()))::int AS left`,
      );
      return rows[0]?.left === 0 ? true : null;
    },
    PATIENCE_MS,
  );

const instantOf = async ({ pool }: DrillProduct): Promise<string> => {
  const { rows } = await pool.query<{ instant: string }>(
    'SELECT clock_timestamp()::text AS instant',
  );
  return rows[0]?.instant ?? '';
};

/** All that was committed lies in the archive: what is lost with the server is nothing of before the instant. */
const untilArchived = async ({ pool }: DrillProduct): Promise<void> => {
  const { rows } = await pool.query<{ file: string }>(
    'SELECT pg_walfile_name(pg_current_wal_lsn()) AS file',
  );
  const last = rows[0]?.file ?? '';
  await pool.query('SELECT pg_switch_wal()');
  await eventually(
    `${last} is archived`,
    async () => {
      const { rows: seen } = await pool.query<{ done: boolean }>(
        'SELECT last_archived_wal >= $1 AS done FROM pg_stat_archiver',
        [last],
      );
      return seen[0]?.done === true ? true : null;
    },
    PATIENCE_MS,
  );
};

const isPrimary = async (url: string): Promise<true | null> => {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ primary: boolean }>(
      'SELECT NOT pg_is_in_recovery() AS primary',
    );
    return rows[0]?.primary === true ? true : null;
  } finally {
    await client.end();
  }
};
