-- Gives a tenant, or one of its keys, a limit. Guard: the key is the tenant's, and not revoked.
INSERT INTO spend_limits (
  id, tenant_id, api_key_id, period, limit_micros, period_start, spent_micros, created_at, updated_at
)
SELECT :id::uuid, :tenantId::uuid, :apiKeyId::uuid, :period, :limitMicros::bigint,
  date_trunc('month', :now::timestamptz AT TIME ZONE 'UTC')::date, :spentMicros::bigint, :now::timestamptz,
  :now::timestamptz
WHERE :apiKeyId::uuid IS NULL
  OR EXISTS (SELECT 1 FROM api_keys WHERE id = :apiKeyId AND tenant_id = :tenantId AND revoked_at IS NULL)
RETURNING id
