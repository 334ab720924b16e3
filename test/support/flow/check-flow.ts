import type { Pool } from 'pg';

import { findViolations } from '../../../src/domain/reconciliation/invariants';
import type { SandboxProcess } from '../sandbox-process';
import { readFacts } from './read-facts';

interface SentAttempt {
  readonly id: string;
  readonly request_key: string;
  readonly job_id: string | null;
  readonly status: string;
}

/**
 * What must hold after every test, whatever it did: the product's invariants over raw SQL, and the provider's own log
 * against the attempts.
 */
export const checkFlow = async (pool: Pool, sandbox: SandboxProcess): Promise<void> => {
  const jobs = await sandbox.jobs();
  expect(findViolations(await readFacts(pool, jobs))).toEqual([]);
  const { by_reference: posts } = await sandbox.requests();
  const attempts = (
    await pool.query<SentAttempt>('SELECT id, request_key, job_id, status FROM task_attempts')
  ).rows;
  for (const attempt of attempts) {
    const own = jobs.filter((job) => job.request.reference === attempt.request_key);
    // One POST an attempt, whatever was lost, repeated or killed; so one job at most.
    expect(posts[attempt.request_key] ?? 0).toBeLessThanOrEqual(1);
    expect(own.length).toBeLessThanOrEqual(1);
    if (attempt.job_id !== null) expect(own.map((job) => job.id)).toEqual([attempt.job_id]);
    // A job nobody knows of may only belong to an attempt that is still in doubt.
    if (attempt.job_id === null && own.length > 0) {
      expect(['SENDING', 'UNKNOWN', 'ABANDONED']).toContain(attempt.status);
    }
  }
  await checkCosts(pool, sandbox);
  await checkSlots(pool);
};

/** What we booked as cost of an attempt is what the provider says it charged. */
const checkCosts = async (pool: Pool, sandbox: SandboxProcess): Promise<void> => {
  const booked = (
    await pool.query<{ request_key: string; amount: string }>(
      `SELECT a.request_key, c.amount::text AS amount FROM provider_costs c JOIN task_attempts a ON a.id = c.attempt_id
       WHERE c.source = 'ATTEMPT'`,
    )
  ).rows;
  const charges = await sandbox.charges();
  for (const { request_key: key, amount } of booked) {
    const charged = charges
      .filter((charge) => charge.reference === key)
      .reduce((sum, charge) => sum + Number(charge.amount), 0);
    expect(Number(amount)).toBeCloseTo(charged, 6);
  }
};

/** A slot in use belongs to somebody who may still have a job, and no count differs from its leases. */
const checkSlots = async (pool: Pool): Promise<void> => {
  const { rows } = await pool.query<{ scope: string; in_use: number; leases: number }>(
    `SELECT s.scope, s.in_use, (SELECT count(*)::int FROM slot_leases l WHERE s.scope = ANY (l.scopes)) AS leases
     FROM slot_scopes s`,
  );
  for (const { in_use: inUse, leases } of rows) expect(inUse).toBe(leases);
  const idle = await pool.query(
    `SELECT a.id, a.status FROM slot_leases l JOIN task_attempts a ON a.id = l.holder
     WHERE a.status IN ('SUCCEEDED', 'FAILED', 'CANCELED', 'FAILED_BEFORE_ACCEPT', 'ABANDONED')`,
  );
  expect(idle.rows).toEqual([]);
};
