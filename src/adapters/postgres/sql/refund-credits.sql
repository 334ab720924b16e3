-- Pays back a part of what a closed hold settled. Guard: the business key is free, and all refunds of the task together
-- stay within its settled amount. The hold must be locked before, or two refunds would not see each other.
WITH booked AS (
  SELECT tenant_id, task_id, kind, amount_micros FROM credit_ledger WHERE business_key = :businessKey
), account AS (
  UPDATE accounts
  SET available_micros = available_micros + :amountMicros::bigint, version = version + 1, updated_at = :now
  WHERE tenant_id = :tenantId AND NOT EXISTS (SELECT 1 FROM booked) AND EXISTS (
    SELECT 1 FROM holds
    WHERE task_id = :taskId AND holds.tenant_id = :tenantId AND status = 'CLOSED'
      AND settled_micros >= :amountMicros::bigint + (
        SELECT coalesce(sum(amount_micros), 0) FROM credit_ledger WHERE task_id = :taskId AND kind = 'REFUND'
      )
  )
  RETURNING tenant_id
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
  ELSE 'OVER_LIMIT'
END AS outcome
