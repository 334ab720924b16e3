-- Messages about a generation or its attempts that have not left yet: what has been planned, and for when.
SELECT type, available_at
FROM outbox_events
WHERE aggregate_id = ANY (:aggregateIds::uuid[]) AND tenant_id = :tenantId::uuid AND status = 'PENDING'
ORDER BY available_at, id
