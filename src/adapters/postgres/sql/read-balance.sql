-- A tenant's account.
SELECT available_micros, held_micros FROM accounts WHERE tenant_id = :tenantId
