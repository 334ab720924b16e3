-- Reserves credits for a generation: account, hold and RESERVE entry, and what is spent of the limits of its tenant and
-- key. Guard: the task has no hold yet, the account has the credits, and each limit covers the amount; otherwise nothing
-- is written. Limits are locked before the account, and only what is limited has any. Where a limit was set, or the
-- balance sank, while this waited for the account, it has not seen that: it answers RACED, and must be run again. Two at
-- once for one task collide on holds_task_id_key.
WITH held AS (
  SELECT amount_micros FROM holds WHERE task_id = :taskId
), seen AS MATERIALIZED (
  SELECT available_micros, limits_revision FROM accounts WHERE tenant_id = :tenantId
), limits AS MATERIALIZED (
  SELECT id, api_key_id, limit_micros, CASE
      WHEN period = 'TOTAL' OR period_start = date_trunc('month', :now::timestamptz AT TIME ZONE 'UTC')::date
      THEN spent_micros ELSE 0
    END AS spent_micros
  FROM spend_limits
  WHERE tenant_id = :tenantId AND (api_key_id IS NULL OR api_key_id = :apiKeyId::uuid)
  ORDER BY id
  FOR NO KEY UPDATE
), exceeded AS (
  SELECT api_key_id, limit_micros - spent_micros AS left_micros FROM limits
  WHERE spent_micros + :amountMicros::bigint > limit_micros
), account AS (
  UPDATE accounts
  SET available_micros = available_micros - :amountMicros::bigint, held_micros = held_micros + :amountMicros::bigint,
    version = version + 1, updated_at = :now
  WHERE tenant_id = :tenantId AND available_micros >= :amountMicros::bigint AND NOT EXISTS (SELECT 1 FROM held)
    AND NOT EXISTS (SELECT 1 FROM exceeded) AND limits_revision = (SELECT limits_revision FROM seen)
  RETURNING tenant_id
), spent AS (
  UPDATE spend_limits
  SET spent_micros = limits.spent_micros + :amountMicros::bigint, updated_at = :now, period_start = CASE period
      WHEN 'MONTH' THEN date_trunc('month', :now::timestamptz AT TIME ZONE 'UTC')::date ELSE period_start
    END
  FROM account, limits
  WHERE spend_limits.id = limits.id
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
  WHEN EXISTS (SELECT 1 FROM exceeded WHERE api_key_id IS NOT NULL) THEN 'KEY_SPEND_LIMIT_EXCEEDED'
  WHEN EXISTS (SELECT 1 FROM exceeded) THEN 'BUDGET_EXCEEDED'
  WHEN (SELECT available_micros FROM seen) >= :amountMicros::bigint THEN 'RACED'
  ELSE 'INSUFFICIENT_CREDITS'
END AS kind, (SELECT greatest(0, left_micros) FROM exceeded ORDER BY api_key_id NULLS LAST LIMIT 1) AS left_micros
