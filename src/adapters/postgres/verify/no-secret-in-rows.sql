-- Places that people read and copies are made of. Prompts and output URLs have rows of their own, which are none of these.
WITH spoken AS (
  SELECT 'outbox_events' AS place, id::text AS id, coalesce(last_error, '') || payload::text AS words FROM outbox_events
  UNION ALL
  SELECT 'bus_messages', event_id::text, coalesce(last_error, '') || envelope::text FROM bus_messages
  UNION ALL
  SELECT 'task_state_events', event_id::text, payload::text FROM task_state_events WHERE payload IS NOT NULL
  UNION ALL
  SELECT 'findings', id::text, detail::text || coalesce(action_taken, '') FROM findings
  UNION ALL
  SELECT 'audit_log', id::text, coalesce(reason, '') || coalesce(before::text, '') || coalesce(after::text, '')
  FROM audit_log
  UNION ALL
  SELECT 'task_attempts', id::text, concat_ws(' ', error_class, error_code, answer_digest, provider_status)
  FROM task_attempts
  UNION ALL
  SELECT 'assets', id::text, concat_ws(' ', rejection_code, rejection_detail, facts::text) FROM assets
)
SELECT spoken.place || ' ' || spoken.id AS subject, needle.name || ' stands in it' AS detail
FROM spoken
JOIN unnest(:names::text[], :patterns::text[]) AS needle (name, pattern) ON spoken.words ~ needle.pattern
ORDER BY 1
LIMIT :limit::int
