-- Pauses or resumes a tenant.
UPDATE tenants SET status = :status WHERE id = :tenantId
