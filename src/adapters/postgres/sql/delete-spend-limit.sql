-- Takes the limit of a tenant (no key) or of one of its keys away; answers it.
DELETE FROM spend_limits
WHERE tenant_id = :tenantId AND api_key_id IS NOT DISTINCT FROM :apiKeyId::uuid
RETURNING limit_micros, period
