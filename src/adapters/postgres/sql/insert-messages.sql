-- Messages of an aggregate; they leave when the transaction commits.
INSERT INTO outbox_events (
  id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, tenant_id, trace_id, causation_id,
  payload, status, available_at, occurred_at
)
SELECT message.event_id, :aggregateType, :aggregateId::uuid, :aggregateVersion::integer, message.type, 1,
  :tenantId::uuid, :traceId, :causationId, message.payload, 'PENDING', message.available_at, :now::timestamptz
FROM jsonb_to_recordset(:messages::jsonb) AS message (event_id uuid, type text, payload jsonb, available_at timestamptz)
