-- The generation that owns an idempotency key of a tenant.
SELECT * FROM generation_tasks WHERE tenant_id = :tenantId AND client_idempotency_key = :key
