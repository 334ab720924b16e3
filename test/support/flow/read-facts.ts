import type { Pool } from 'pg';

import type { Facts } from '../../../src/domain/reconciliation/facts';
import type { SandboxJob } from '../sandbox-process';

/** A pool, or one connection with a snapshot. */
type Queryable = Pick<Pool, 'query'>;

const rows = async <T>(pool: Queryable, sql: string): Promise<T[]> =>
  (await pool.query(sql)).rows as T[];

/** The whole database as the invariants want it, by SQL of the test's own, and the provider's jobs beside it. */
export const readFacts = async (pool: Queryable, jobs: readonly SandboxJob[]): Promise<Facts> => {
  const attempts = await rows<Facts['attempts'][number] & { requestKey: string }>(
    pool,
    `SELECT id, task_id AS "taskId", attempt_no AS "attemptNo", status, job_id AS "jobId",
       request_key AS "requestKey" FROM task_attempts`,
  );
  const attemptOf = new Map(attempts.map((attempt) => [attempt.requestKey, attempt.id]));
  return {
    tasks: await rows(
      pool,
      'SELECT id, status, version, current_attempt_no AS "currentAttemptNo" FROM generation_tasks',
    ),
    attempts,
    history: await rows(
      pool,
      `SELECT task_id AS "taskId", type, from_status AS "from", to_status AS "to", task_version AS "taskVersion",
         ignored_reason AS "ignoredReason" FROM task_state_events`,
    ),
    holds: await rows(
      pool,
      `SELECT task_id AS "taskId", tenant_id AS "tenantId", amount_micros AS "amountMicros", status FROM holds`,
    ),
    ledger: await rows(
      pool,
      `SELECT tenant_id AS "tenantId", task_id AS "taskId", kind, amount_micros AS "amountMicros",
         available_delta AS "availableDelta", held_delta AS "heldDelta", business_key AS "businessKey"
       FROM credit_ledger`,
    ),
    accounts: await rows(
      pool,
      `SELECT tenant_id AS "tenantId", available_micros AS "availableMicros", held_micros AS "heldMicros" FROM accounts`,
    ),
    pendingSettlements: (
      await rows<{ id: string }>(
        pool,
        `SELECT aggregate_id AS id FROM outbox_events o WHERE type = 'billing.settlement.requested' AND NOT EXISTS (
           SELECT 1 FROM inbox_dedup i WHERE i.consumer_group = 'billing' AND i.event_id = o.id)`,
      )
    ).map(({ id }) => id),
    providerJobs: jobs.flatMap((job) => {
      const attemptId = attemptOf.get(job.request.reference ?? '');
      return attemptId === undefined ? [] : [{ jobId: job.id, attemptId }];
    }),
  };
};
