import type { PoolClient } from 'pg';

import { CHECKS } from '../../../src/flow/verify/check-list';
import { findViolations, INVARIANTS } from '../../../src/domain/reconciliation/invariants';
import { readConfig } from '../../../src/runtime/config';
import { verifyStored } from '../../../src/runtime/verify';
import { readFacts } from '../../support/flow/read-facts';
import { eventually } from '../../support/eventually';
import type { CrashProduct } from './crash-product';
import type { Ended } from './scenarios';

/** Checks of the run itself, beside the product's invariants. */
const OWN_CHECKS = [
  'one POST for each attempt',
  'one job for each generation',
  'one RESERVE, one close',
  'one entry for each grant',
  'idle at the end',
] as const;

/** After each kill, and once more at the end. */
export const checkCounts = {
  eachKill: INVARIANTS.length + OWN_CHECKS.length,
  atTheEnd: CHECKS.length,
} as const;

/** The product's invariants over raw SQL, in one snapshot, and the provider's own log beside it. */
export const findBroken = async (product: CrashProduct): Promise<string[]> => {
  const jobs = await product.jobs();
  const client = await product.pool.connect();
  try {
    const facts = await inSnapshot(client, () => readFacts(client, jobs));
    return findViolations(facts).map(
      ({ invariant, subject, detail }) => `${invariant}: ${subject}: ${detail}`,
    );
  } finally {
    client.release();
  }
};

const inSnapshot = async <T>(client: PoolClient, work: () => Promise<T>): Promise<T> => {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    return await work();
  } finally {
    await client.query('ROLLBACK');
  }
};

interface TaskRow {
  readonly status: string;
  readonly hold: string | null;
  readonly reserves: number;
  readonly settles: number;
  readonly releases: number;
  readonly reserved: string;
  readonly closed: string;
  readonly keys: readonly string[];
}

/** What must be true of one use case that has ended, whatever died on its way. */
export const findWrong = async (product: CrashProduct, ended: Ended): Promise<string[]> => {
  if (ended.kind === 'asset') return [];
  return ended.kind === 'grant' ? judgeGrant(product, ended.id) : judgeTask(product, ended);
};

const judgeGrant = async (product: CrashProduct, reference: string): Promise<string[]> => {
  const [row] = await product.rows<{ entries: number }>(
    "SELECT count(*)::int AS entries FROM credit_ledger WHERE kind = 'GRANT' AND business_key LIKE '%' || $1",
    [reference],
  );
  return row?.entries === 1 ? [] : [`grant ${reference} has ${row?.entries ?? 0} entries`];
};

const judgeTask = async (product: CrashProduct, ended: Ended): Promise<string[]> => {
  const [task] = await product.rows<TaskRow>(
    `SELECT t.status, h.status AS hold,
       (SELECT count(*)::int FROM credit_ledger l WHERE l.task_id = t.id AND l.kind = 'RESERVE') AS reserves,
       (SELECT count(*)::int FROM credit_ledger l WHERE l.task_id = t.id AND l.kind = 'SETTLE') AS settles,
       (SELECT count(*)::int FROM credit_ledger l WHERE l.task_id = t.id AND l.kind = 'RELEASE') AS releases,
       (SELECT coalesce(sum(amount_micros), 0)::text FROM credit_ledger l WHERE l.task_id = t.id AND l.kind = 'RESERVE') AS reserved,
       (SELECT coalesce(sum(amount_micros), 0)::text FROM credit_ledger l WHERE l.task_id = t.id AND l.kind IN ('SETTLE', 'RELEASE')) AS closed,
       (SELECT coalesce(array_agg(request_key), '{}') FROM task_attempts a WHERE a.task_id = t.id) AS keys
     FROM generation_tasks t LEFT JOIN holds h ON h.task_id = t.id WHERE t.id = $1`,
    [ended.id],
  );
  if (task === undefined) return [`generation ${ended.id} is gone`];
  const [jobs, posts] = [await product.jobs(), await product.posts()];
  const own = jobs.filter((job) => task.keys.includes(job.request.reference ?? ''));
  const twice = task.keys.filter((key) => (posts[key] ?? 0) > 1);
  const money = `${task.reserves} RESERVE, ${task.settles} SETTLE, ${task.releases} RELEASE, hold ${String(task.hold)}, ${task.reserved} reserved and ${task.closed} closed`;
  return [
    ...(task.status === ended.status ? [] : [`it went on from ${ended.status} to ${task.status}`]),
    ...(own.length === 1 ? [] : [`it has ${own.length} jobs at the provider`]),
    ...(twice.length === 0 ? [] : [`sent more than once: ${twice.join(', ')}`]),
    ...(task.reserves === 1 &&
    task.settles <= 1 &&
    task.releases <= 1 &&
    task.hold === 'CLOSED' &&
    task.reserved === task.closed
      ? []
      : [money]),
  ].map((wrong) => `generation ${ended.id}: ${wrong}`);
};

const IDLE_LIMIT_MS = 60_000;

/** Everything has ended: nothing may be held, waiting or left behind. */
export const findLeft = async (product: CrashProduct): Promise<string[]> => {
  let left: string[] = [];
  await eventually(
    'nothing is held or waits',
    async () => {
      left = await listLeft(product);
      return left.length === 0 ? true : null;
    },
    IDLE_LIMIT_MS,
  ).catch(() => undefined);
  return left;
};

const LEFT = {
  'generations that have not ended': `SELECT id::text AS what FROM generation_tasks WHERE status NOT IN ('SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED')`,
  'holds that are open': `SELECT task_id::text AS what FROM holds WHERE status = 'OPEN'`,
  'slots in use': `SELECT scope AS what FROM slot_scopes WHERE in_use <> 0`,
  'leases of slots': `SELECT holder::text AS what FROM slot_leases`,
  // An attempt whose absence was believed is watched for days: its next look is planned, and nothing waits for it.
  'outbox rows that were not published': `SELECT type AS what FROM outbox_events
     WHERE status <> 'PUBLISHED' AND NOT (type = 'attempt.reconcile.requested' AND available_at > now())`,
  'messages on the bus': `SELECT type AS what FROM bus_messages`,
  'provider events that nobody judged': `SELECT id::text AS what FROM provider_events WHERE matched_at IS NULL`,
} as const;

const listLeft = async (product: CrashProduct): Promise<string[]> => {
  const found: string[] = [];
  for (const [name, sql] of Object.entries(LEFT)) {
    const rows = await product.rows<{ what: string }>(sql);
    if (rows.length > 0)
      found.push(
        `${rows.length} ${name}: ${rows
          .slice(0, 3)
          .map(({ what }) => what)
          .join(', ')}`,
      );
  }
  return found;
};

/** What is younger may still be under way: nothing is, when all have ended. */
const SETTLE_MS = 5_000;

/** All that `npm run cli -- verify` asks: of the rows, the provider's log, the object store, the logs and what was left over. */
export const askVerify = async (product: CrashProduct): Promise<string[]> => {
  const { violations } = await verifyStored({
    config: readConfig({
      AIVEDIO_DATA_DIR: product.dataDir,
      AIVEDIO_DATABASE_URL: product.databaseUrl,
      ...product.settings,
    }),
    log: QUIET,
    settleMs: SETTLE_MS,
    only: null,
    canaries: [],
    onBytes: () => undefined,
  });
  return violations.map(({ invariant, subject, detail }) => `${invariant}: ${subject}: ${detail}`);
};

const QUIET = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => QUIET,
};
