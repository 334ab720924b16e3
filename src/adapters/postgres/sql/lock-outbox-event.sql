-- One message of the outbox, locked.
SELECT id, type, status, aggregate_id, tenant_id, publish_attempts, last_error
FROM outbox_events WHERE id = :eventId FOR NO KEY UPDATE
