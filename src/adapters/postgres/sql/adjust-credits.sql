-- Corrects what a tenant can spend, up or down; a hold is never touched. Guard: the business key is free, and the
-- account is neither below zero nor beyond what it can hold afterwards.
WITH booked AS (
  SELECT tenant_id, kind, available_delta FROM credit_ledger WHERE business_key = :businessKey
), account AS (
  UPDATE accounts
  SET available_micros = available_micros + :deltaMicros::bigint, version = version + 1, updated_at = :now
  WHERE tenant_id = :tenantId AND NOT EXISTS (SELECT 1 FROM booked)
    AND CASE WHEN :deltaMicros::bigint < 0
      THEN available_micros >= -:deltaMicros::bigint
      ELSE available_micros <= :balanceMax::bigint - held_micros - :deltaMicros::bigint
    END
  RETURNING tenant_id
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
  WHEN :deltaMicros::bigint < 0 THEN 'INSUFFICIENT_CREDITS'
  ELSE 'BALANCE_TOO_LARGE'
END AS outcome
