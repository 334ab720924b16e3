-- History of an event that changed nothing, with the reason.
INSERT INTO task_state_events (
  event_id, task_id, tenant_id, attempt_id, source, source_event_id, type, from_status, to_status, task_version,
  ignored_reason, provider_updated_at, observed_at, payload, trace_id
)
VALUES (
  :eventId, :taskId, :tenantId, :attemptId, :source, :sourceEventId, :type, :status, :status, :version,
  :reason, :providerUpdatedAt, :now, :payload, :traceId
)
