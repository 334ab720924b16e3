-- `insert-messages` for several aggregates.
INSERT INTO outbox_events (
  id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, tenant_id, trace_id, causation_id,
  payload, status, available_at, occurred_at
)
SELECT message.event_id, a.type, a.id, a.version, message.type, 1, a.tenant_id, a.trace_id, a.causation_id,
  message.payload, 'PENDING', message.available_at, a.now
FROM unnest(
  :aggregateType::text[], :aggregateId::uuid[], :aggregateVersion::integer[], :tenantId::uuid[], :traceId::text[],
  :causationId::text[], :messages::jsonb[], :now::timestamptz[]
) AS a (type, id, version, tenant_id, trace_id, causation_id, messages, now)
CROSS JOIN LATERAL jsonb_to_recordset(a.messages)
  AS message (event_id uuid, type text, payload jsonb, available_at timestamptz)
