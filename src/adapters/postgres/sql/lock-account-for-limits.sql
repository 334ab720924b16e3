-- A tenant's account, locked until the transaction ends: no hold of the tenant opens or closes meanwhile. The revision
-- of its limits is raised, so that whoever waits for the account looks at them again.
UPDATE accounts SET limits_revision = limits_revision + 1, updated_at = :now WHERE tenant_id = :tenantId
RETURNING tenant_id
