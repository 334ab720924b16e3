-- Gives a tenant credits, opening its account when there is none. Guard: the business key is free, and the account can
-- hold the sum with all that is reserved; two at once with one key collide on credit_ledger_business_key_key.
WITH booked AS (
  SELECT tenant_id, kind, amount_micros FROM credit_ledger WHERE business_key = :businessKey
), account AS (
  INSERT INTO accounts (tenant_id, available_micros, held_micros, version, updated_at)
  SELECT :tenantId::uuid, :amountMicros::bigint, 0, 1, :now::timestamptz
  WHERE NOT EXISTS (SELECT 1 FROM booked)
  ON CONFLICT (tenant_id) DO UPDATE
  SET available_micros = accounts.available_micros + excluded.available_micros, version = accounts.version + 1,
    updated_at = excluded.updated_at
  WHERE accounts.available_micros <= :balanceMax::bigint - accounts.held_micros - excluded.available_micros
  RETURNING tenant_id
), entry AS (
  INSERT INTO credit_ledger (
    id, tenant_id, kind, amount_micros, available_delta, held_delta, unit, business_key, reason, actor, created_at
  )
  SELECT :entryId::uuid, tenant_id, 'GRANT', :amountMicros::bigint, :amountMicros::bigint, 0, :unit, :businessKey,
    :reason, :actor, :now::timestamptz
  FROM account
  RETURNING 1
)
SELECT CASE
  WHEN EXISTS (SELECT 1 FROM entry) THEN 'CREATED'
  WHEN EXISTS (
    SELECT 1 FROM booked
    WHERE tenant_id = :tenantId AND kind = 'GRANT' AND amount_micros = :amountMicros::bigint
  ) THEN 'REPLAY'
  WHEN EXISTS (SELECT 1 FROM booked) THEN 'CONFLICT'
  ELSE 'BALANCE_TOO_LARGE'
END AS outcome
