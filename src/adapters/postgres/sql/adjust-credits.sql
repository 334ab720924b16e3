-- Corrects what a tenant can spend, up or down; a hold is never touched. Guard: the business key is free, what is given back
-- of a generation stays within what it was charged, and the account is neither below zero nor beyond what it can hold
-- afterwards. Of a generation it counts on the limits that it was spent from, and its hold must be locked before.
WITH booked AS (
  SELECT tenant_id, kind, available_delta FROM credit_ledger WHERE business_key = :businessKey
), hold AS (
  SELECT tenant_id, opened_at, coalesce(settled_micros, 0) - (
    SELECT coalesce(sum(available_delta), 0) FROM credit_ledger
    WHERE task_id = :taskId AND kind IN ('REFUND', 'ADJUSTMENT')
  ) AS left_micros
  FROM holds
  WHERE task_id = :taskId::uuid AND tenant_id = :tenantId
), allowed AS (
  SELECT 1 WHERE :taskId::uuid IS NULL OR :deltaMicros::bigint <= 0
    OR EXISTS (SELECT 1 FROM hold WHERE left_micros >= :deltaMicros::bigint)
), touched AS MATERIALIZED (
  SELECT l.id FROM spend_limits l JOIN hold ON l.tenant_id = hold.tenant_id
  WHERE (l.api_key_id IS NULL OR l.api_key_id = (SELECT api_key_id FROM generation_tasks WHERE id = :taskId))
    AND (l.period = 'TOTAL' OR l.period_start = date_trunc('month', hold.opened_at AT TIME ZONE 'UTC')::date)
    AND EXISTS (SELECT 1 FROM allowed) AND NOT EXISTS (SELECT 1 FROM booked)
  ORDER BY l.id
  FOR NO KEY UPDATE OF l
), account AS (
  UPDATE accounts
  SET available_micros = available_micros + :deltaMicros::bigint, version = version + 1, updated_at = :now
  WHERE tenant_id = :tenantId AND NOT EXISTS (SELECT 1 FROM booked)
    AND EXISTS (SELECT 1 FROM allowed) AND (SELECT count(*) FROM touched) >= 0
    AND CASE WHEN :deltaMicros::bigint < 0
      THEN available_micros >= -:deltaMicros::bigint
      ELSE available_micros <= :balanceMax::bigint - held_micros - :deltaMicros::bigint
    END
  RETURNING tenant_id
), counted AS (
  UPDATE spend_limits
  SET spent_micros = greatest(0, spent_micros - :deltaMicros::bigint), updated_at = :now
  FROM account
  WHERE spend_limits.id IN (SELECT id FROM touched)
), entry AS (
  INSERT INTO credit_ledger (
    id, tenant_id, task_id, attempt_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason,
    actor, created_at
  )
  SELECT :entryId::uuid, tenant_id, :taskId::uuid, :attemptId::uuid, 'ADJUSTMENT', abs(:deltaMicros::bigint),
    :deltaMicros::bigint, 0, :unit, :businessKey, :reason, :actor, :now::timestamptz
  FROM account
  RETURNING 1
)
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM entry) THEN 'CREATED'
  WHEN EXISTS (
    SELECT 1 FROM booked
    WHERE tenant_id = :tenantId AND kind = 'ADJUSTMENT' AND available_delta = :deltaMicros::bigint
  ) THEN 'REPLAY'
  WHEN EXISTS (SELECT 1 FROM booked) THEN 'CONFLICT'
  WHEN NOT EXISTS (SELECT 1 FROM accounts WHERE tenant_id = :tenantId) THEN 'NO_ACCOUNT'
  WHEN NOT EXISTS (SELECT 1 FROM allowed) THEN 'OVER_LIMIT'
  WHEN :deltaMicros::bigint < 0 THEN 'INSUFFICIENT_CREDITS'
  ELSE 'BALANCE_TOO_LARGE'
END AS outcome
