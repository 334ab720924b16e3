-- Messages that were given up, in the outbox or on the bus, newest first (`fromEnd`: oldest first), within a cut by id.
SELECT * FROM (
  SELECT id, 'OUTBOX' AS place, NULL AS consumer_group, type, tenant_id, publish_attempts AS tries, last_error, occurred_at
  FROM outbox_events
  WHERE status = 'DEAD' AND (:afterId::uuid IS NULL OR id < :afterId::uuid) AND (:beforeId::uuid IS NULL OR id > :beforeId::uuid)
  UNION ALL
  SELECT event_id, 'BUS', consumer_group, type, (envelope->>'tenantId')::uuid, deliveries, last_error, created_at
  FROM bus_messages
  WHERE status = 'DEAD' AND (:afterId::uuid IS NULL OR event_id < :afterId::uuid)
    AND (:beforeId::uuid IS NULL OR event_id > :beforeId::uuid)
) AS dead
ORDER BY CASE WHEN :fromEnd::boolean THEN id END, id DESC
LIMIT :limit::integer
