-- Pays back a part of what a generation was charged, to the account and to the limits that it was spent from. Guard: the
-- business key is free, all that refunds and adjustments give back of the task stays within what it was charged, and the
-- account can hold the sum. The hold must be locked before, or two that give back would not see each other.
WITH booked AS (
  SELECT tenant_id, task_id, kind, amount_micros FROM credit_ledger WHERE business_key = :businessKey
), hold AS (
  SELECT tenant_id, task_id, status, opened_at, coalesce(settled_micros, 0) - (
    SELECT coalesce(sum(available_delta), 0) FROM credit_ledger
    WHERE task_id = :taskId AND kind IN ('REFUND', 'ADJUSTMENT')
  ) AS left_micros
  FROM holds
  WHERE task_id = :taskId AND tenant_id = :tenantId
), payable AS (
  SELECT tenant_id, task_id, opened_at FROM hold
  WHERE status = 'CLOSED' AND left_micros >= :amountMicros::bigint AND NOT EXISTS (SELECT 1 FROM booked)
), touched AS MATERIALIZED (
  SELECT l.id FROM spend_limits l JOIN payable ON l.tenant_id = payable.tenant_id
  WHERE (l.api_key_id IS NULL OR l.api_key_id = (SELECT api_key_id FROM generation_tasks WHERE id = :taskId))
    AND (l.period = 'TOTAL' OR l.period_start = date_trunc('month', payable.opened_at AT TIME ZONE 'UTC')::date)
  ORDER BY l.id
  FOR NO KEY UPDATE OF l
), account AS (
  UPDATE accounts
  SET available_micros = available_micros + :amountMicros::bigint, version = version + 1, updated_at = :now
  WHERE tenant_id = :tenantId AND EXISTS (SELECT 1 FROM payable) AND (SELECT count(*) FROM touched) >= 0
    AND available_micros <= :balanceMax::bigint - held_micros - :amountMicros::bigint
  RETURNING tenant_id
), given AS (
  UPDATE spend_limits
  SET spent_micros = greatest(0, spent_micros - :amountMicros::bigint), updated_at = :now
  FROM account
  WHERE spend_limits.id IN (SELECT id FROM touched)
), entry AS (
  INSERT INTO credit_ledger (
    id, tenant_id, task_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason, actor,
    created_at
  )
  SELECT :entryId::uuid, tenant_id, :taskId::uuid, 'REFUND', :amountMicros::bigint, :amountMicros::bigint, 0, :unit,
    :businessKey, :reason, :actor, :now::timestamptz
  FROM account
  RETURNING 1
)
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM entry) THEN 'CREATED'
  WHEN EXISTS (
    SELECT 1 FROM booked
    WHERE tenant_id = :tenantId AND task_id = :taskId AND kind = 'REFUND' AND amount_micros = :amountMicros::bigint
  ) THEN 'REPLAY'
  WHEN EXISTS (SELECT 1 FROM booked) THEN 'CONFLICT'
  WHEN NOT EXISTS (SELECT 1 FROM hold) THEN 'NO_HOLD'
  WHEN EXISTS (SELECT 1 FROM hold WHERE status = 'OPEN') THEN 'NOT_SETTLED'
  WHEN NOT EXISTS (SELECT 1 FROM payable) THEN 'OVER_LIMIT'
  ELSE 'BALANCE_TOO_LARGE'
END AS outcome
