-- The latest part of the history of each of several generations, oldest first.
SELECT e.event_id, e.task_id, e.tenant_id, e.attempt_id, e.source, e.type, e.from_status, e.to_status, e.task_version,
  e.ignored_reason, e.provider_updated_at, e.observed_at
FROM unnest(:taskIds::uuid[]) AS wanted (task_id)
CROSS JOIN LATERAL (
  SELECT * FROM task_state_events
  WHERE task_id = wanted.task_id AND tenant_id = :tenantId::uuid
  ORDER BY event_id DESC
  LIMIT :limitEach::integer
) AS e
ORDER BY e.task_id, e.event_id
