SELECT found.subject, found.detail
FROM (
  SELECT l.id::text AS subject, 'an entry of generation ' || l.task_id || ', which is not there' AS detail
  FROM credit_ledger l
  WHERE l.task_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM generation_tasks t WHERE t.id = l.task_id)
  UNION ALL
  SELECT e.event_id::text, 'history of generation ' || e.task_id || ', which is not there'
  FROM task_state_events e
  WHERE NOT EXISTS (SELECT 1 FROM generation_tasks t WHERE t.id = e.task_id)
) AS found
ORDER BY found.subject
LIMIT :limit::int
