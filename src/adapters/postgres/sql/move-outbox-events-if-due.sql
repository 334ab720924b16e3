-- Outbox and bus are one database: claim, publish and mark are one statement, so none can happen without the others.
-- One mover works at a time: two at once could commit the messages of one aggregate in the wrong order.
-- Types that this version does not know stay pending for the version that does. What was due before `from` an earlier look
-- has moved. The ids stand there twice, so that no plan walks the whole table to meet them.
WITH gate AS MATERIALIZED (
  SELECT pg_try_advisory_xact_lock(:lockSpace::int, :lockKey::int) AS open
),
due AS (
  SELECT e.id, e.type, e.available_at
  FROM outbox_events e
  WHERE (SELECT open FROM gate)
    AND e.status = 'PENDING' AND e.available_at >= :from::timestamptz AND e.available_at <= :now::timestamptz
    AND e.type = ANY (:types::text[])
  ORDER BY e.available_at, e.id
  LIMIT :limit::int
  FOR UPDATE SKIP LOCKED
),
marked AS (
  UPDATE outbox_events e
  SET status = 'PUBLISHED', published_at = :now::timestamptz, publish_attempts = e.publish_attempts + 1
  FROM due
  WHERE e.id = due.id AND e.id = ANY (ARRAY(SELECT id FROM due))
  RETURNING e.id, e.type, due.available_at, jsonb_build_object(
    'eventId', e.id,
    'eventType', e.type,
    'schemaVersion', e.schema_version,
    'aggregateId', e.aggregate_id,
    'aggregateVersion', e.aggregate_version,
    'tenantId', e.tenant_id,
    'traceId', e.trace_id,
    'causationId', e.causation_id,
    'occurredAt', to_char(e.occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'payload', e.payload
  ) AS envelope
),
published AS (
  INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, created_at)
  SELECT reader.consumer_group, marked.id, marked.type, marked.envelope, 'READY', :now::timestamptz, :now::timestamptz
  FROM marked
  JOIN unnest(:readTypes::text[], :readerGroups::text[]) AS reader (type, consumer_group) ON reader.type = marked.type
  ORDER BY marked.available_at, marked.id
  ON CONFLICT (consumer_group, event_id) DO NOTHING
  RETURNING consumer_group
)
SELECT (SELECT open FROM gate) AS open,
       (SELECT count(*)::int FROM marked) AS moved,
       (SELECT max(available_at) FROM marked) AS last_due_at,
       (SELECT COALESCE(array_agg(DISTINCT consumer_group), '{}') FROM published) AS groups
