-- The second wall: the triggers that refuse a move, and the pairs that they read, which must be the table's.
WITH wanted AS (
  SELECT * FROM unnest(:kinds::text[], :froms::text[], :tos::text[]) AS w (kind, from_status, to_status)
),
held AS (
  SELECT 'task' AS kind, from_status, to_status FROM task_status_pairs
  UNION ALL
  SELECT 'attempt', from_status, to_status FROM attempt_status_pairs
)
SELECT coalesce(wanted.kind, held.kind) AS subject,
  coalesce(wanted.from_status, held.from_status) || ' to ' || coalesce(wanted.to_status, held.to_status)
    || CASE WHEN held.kind IS NULL THEN ' is refused against the table' ELSE ' is allowed against the table' END AS detail
FROM wanted FULL JOIN held USING (kind, from_status, to_status)
WHERE wanted.kind IS NULL OR held.kind IS NULL
UNION ALL
SELECT guard.name, 'the trigger is missing or disabled'
FROM (VALUES
  ('generation_tasks', 'generation_tasks_begin'), ('generation_tasks', 'generation_tasks_move'),
  ('task_attempts', 'task_attempts_move')
) AS guard (relation, name)
WHERE NOT EXISTS (
  SELECT 1 FROM pg_trigger t
  WHERE t.tgname = guard.name AND t.tgrelid = to_regclass(guard.relation) AND t.tgenabled IN ('O', 'A')
)
