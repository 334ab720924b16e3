-- The limits of a tenant, locked before its account as everywhere.
SELECT id FROM spend_limits WHERE tenant_id = :tenantId ORDER BY id FOR UPDATE
