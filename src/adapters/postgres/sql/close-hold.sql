-- Closes a hold once: hold, limits, account, SETTLE and RELEASE entries (none for an amount of 0). Guard: the hold is
-- OPEN and the two amounts are the whole of it; otherwise nothing is written.
WITH closed AS (
  UPDATE holds
  SET status = 'CLOSED', settled_micros = :settleMicros::bigint, close_reason = :reason, closed_at = :now
  WHERE task_id = :taskId AND status = 'OPEN' AND amount_micros = :settleMicros::bigint + :releaseMicros::bigint
  RETURNING tenant_id, task_id, amount_micros, opened_at
), touched AS MATERIALIZED (
  SELECT l.id FROM spend_limits l JOIN closed ON l.tenant_id = closed.tenant_id
  WHERE :releaseMicros::bigint > 0
    AND (l.api_key_id IS NULL OR l.api_key_id = (SELECT api_key_id FROM generation_tasks WHERE id = :taskId))
    AND (l.period = 'TOTAL' OR l.period_start = date_trunc('month', closed.opened_at AT TIME ZONE 'UTC')::date)
  ORDER BY l.id
  FOR NO KEY UPDATE OF l
), account AS (
  UPDATE accounts
  SET available_micros = available_micros + :releaseMicros::bigint,
    held_micros = held_micros - closed.amount_micros, version = version + 1, updated_at = :now
  FROM closed
  WHERE accounts.tenant_id = closed.tenant_id AND (SELECT count(*) FROM touched) >= 0
), given AS (
  UPDATE spend_limits
  SET spent_micros = greatest(0, spent_micros - :releaseMicros::bigint), updated_at = :now
  WHERE id IN (SELECT id FROM touched)
), entries AS (
  INSERT INTO credit_ledger (
    id, tenant_id, task_id, attempt_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason,
    actor, created_at
  )
  SELECT entry.id, closed.tenant_id, closed.task_id, :attemptId::uuid, entry.kind, entry.amount_micros,
    CASE entry.kind WHEN 'RELEASE' THEN entry.amount_micros ELSE 0 END, -entry.amount_micros, :unit,
    entry.business_key, :reason, :actor, :now::timestamptz
  FROM closed, (VALUES
    (:settleEntryId::uuid, 'SETTLE', :settleMicros::bigint, :settleKey),
    (:releaseEntryId::uuid, 'RELEASE', :releaseMicros::bigint, :releaseKey)
  ) AS entry (id, kind, amount_micros, business_key)
  WHERE entry.amount_micros > 0
)
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM closed) THEN 'CLOSED'
  WHEN EXISTS (
    SELECT 1 FROM holds
    WHERE task_id = :taskId AND status = 'OPEN'
      AND amount_micros <> :settleMicros::bigint + :releaseMicros::bigint
  ) THEN 'AMOUNTS_DIFFER'
  WHEN EXISTS (SELECT 1 FROM holds WHERE task_id = :taskId) THEN 'ALREADY_CLOSED'
  ELSE 'NO_HOLD'
END AS outcome
