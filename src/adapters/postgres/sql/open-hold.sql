-- Reserves credits for a generation: account, hold and RESERVE entry. Guard: the task has no hold yet and the account
-- has the credits; otherwise nothing is written. Two at once for one task collide on holds_task_id_key.
WITH held AS (
  SELECT amount_micros FROM holds WHERE task_id = :taskId
), account AS (
  UPDATE accounts
  SET available_micros = available_micros - :amountMicros::bigint, held_micros = held_micros + :amountMicros::bigint,
    version = version + 1, updated_at = :now
  WHERE tenant_id = :tenantId AND available_micros >= :amountMicros::bigint AND NOT EXISTS (SELECT 1 FROM held)
  RETURNING tenant_id
), hold AS (
  INSERT INTO holds (id, tenant_id, task_id, amount_micros, status, opened_at)
  SELECT :holdId::uuid, tenant_id, :taskId::uuid, :amountMicros::bigint, 'OPEN', :now::timestamptz FROM account
  RETURNING tenant_id
), entry AS (
  INSERT INTO credit_ledger (
    id, tenant_id, task_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason, actor,
    created_at
  )
  SELECT :entryId::uuid, tenant_id, :taskId::uuid, 'RESERVE', :amountMicros::bigint, -:amountMicros::bigint,
    :amountMicros::bigint, :unit, :businessKey, :reason, :actor, :now::timestamptz
  FROM hold
  RETURNING 1
)
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM entry) THEN 'CREATED'
  WHEN (SELECT amount_micros FROM held) = :amountMicros::bigint THEN 'REPLAY'
  WHEN EXISTS (SELECT 1 FROM held) THEN 'CONFLICT'
  ELSE 'INSUFFICIENT_CREDITS'
END AS outcome
