import type { Client } from 'pg';

/** Ended and living generations with their attempts and holds, by SQL: their course is not what is measured. */
export const fillTasks = async (
  client: Client,
  tenantId: string,
  tasks: { readonly terminal: number; readonly live: number },
): Promise<void> => {
  const now = new Date();
  // Neither the law nor foreign keys are asked: the rows are as the product would have left them.
  await client.query('SET session_replication_role = replica');
  await client.query('SET synchronous_commit = off');
  for (const [count, ended] of [
    [tasks.terminal, true],
    [tasks.live, false],
  ] as const) {
    await client.query(TASKS, [tenantId, now, count, ended]);
    await client.query(ATTEMPTS, [ended]);
    await client.query(HOLDS, [ended]);
  }
  await client.query(
    `UPDATE accounts SET held_micros =
       (SELECT coalesce(sum(amount_micros), 0) FROM holds WHERE status = 'OPEN' AND holds.tenant_id = accounts.tenant_id)`,
  );
  await client.query('SET session_replication_role = origin');
  await client.query('VACUUM ANALYZE');
};

const TASKS = `
  INSERT INTO generation_tasks (id, tenant_id, client_idempotency_key, request_hash, status, version, requested_model,
    current_attempt_no, priority, price_micros, reserved_micros, deadline_at, trace_id, created_at, updated_at, started_at,
    finished_at)
  SELECT gen_random_uuid(), $1, $4::boolean || '-' || n, 'h', CASE WHEN $4 THEN 'SUCCEEDED' ELSE 'RUNNING' END, 9, 'm', 1, 0, 1000000,
    1000000, $2::timestamptz + interval '1 hour', 't', $2::timestamptz - n * interval '1 second',
    $2::timestamptz - n * interval '1 second', $2, CASE WHEN $4 THEN $2::timestamptz - n * interval '1 second' END
  FROM generate_series(1, $3::integer) AS n`;

const ATTEMPTS = `
  INSERT INTO task_attempts (id, tenant_id, task_id, attempt_no, provider_id, account_id, model, request_key, job_id, status,
    version, sent, callback_url, cost_amount, cost_currency, cost_booked_at, accepted_at, completed_at, created_at, updated_at)
  SELECT gen_random_uuid(), tenant_id, id, 1, 'sandbox', 'sandbox-main', 'm', 'r' || id, 'j' || id,
    CASE WHEN $1 THEN 'SUCCEEDED' ELSE 'RUNNING' END, 4, '{}', 'c', CASE WHEN $1 THEN 0.1 END, CASE WHEN $1 THEN 'USD' END,
    finished_at, created_at, finished_at, created_at, updated_at
  FROM generation_tasks WHERE (finished_at IS NOT NULL) = $1`;

const HOLDS = `
  INSERT INTO holds (id, tenant_id, task_id, amount_micros, status, settled_micros, close_reason, opened_at, closed_at)
  SELECT gen_random_uuid(), tenant_id, id, 1000000, CASE WHEN $1 THEN 'CLOSED' ELSE 'OPEN' END, CASE WHEN $1 THEN 1000000 END,
    CASE WHEN $1 THEN 'DELIVERED' END, created_at, finished_at
  FROM generation_tasks WHERE (finished_at IS NOT NULL) = $1`;
