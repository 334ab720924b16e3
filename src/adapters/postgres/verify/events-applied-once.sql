-- One observation moves a generation once by each of its steps, however often its message comes.
SELECT task_id AS subject, format('%s came %s times from %s', type, count(*), source_event_id) AS detail
FROM task_state_events
WHERE ignored_reason IS NULL AND source_event_id IS NOT NULL
GROUP BY task_id, source_event_id, type, to_status
HAVING count(*) > 1
ORDER BY task_id
LIMIT :limit::int
