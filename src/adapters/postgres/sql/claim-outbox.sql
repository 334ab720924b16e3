-- Leases due messages by moving their time to `leaseUntil`, oldest first. By row and never by a cursor: a message that
-- commits late is still found: `from` is the beginning every now and then. Rows that another relay is leasing are passed
-- over. Types that this version does not know stay pending for the version that does.
WITH due AS (
  SELECT id, available_at FROM outbox_events
  WHERE status = 'PENDING' AND available_at >= :from AND available_at <= :now
    AND type = ANY (:types::text[])
  ORDER BY available_at, id
  LIMIT :limit
  FOR NO KEY UPDATE SKIP LOCKED
), leased AS (
  UPDATE outbox_events o SET available_at = :leaseUntil, publish_attempts = o.publish_attempts + 1
  FROM due WHERE o.id = due.id AND o.id = ANY (ARRAY(SELECT id FROM due))
  RETURNING o.*, due.available_at AS due_at
)
SELECT id, type, schema_version, aggregate_id, aggregate_version, tenant_id, trace_id, causation_id, occurred_at,
  payload, due_at
FROM leased ORDER BY due_at, id
