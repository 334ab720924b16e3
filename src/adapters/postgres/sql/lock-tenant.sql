-- One tenant with its limits, locked.
SELECT id, name, tier, status, in_flight_max, queued_max, upload_bytes_max, retention_days, charged_failure_bearer
FROM tenants WHERE id = :tenantId FOR NO KEY UPDATE
