-- When the next thing of each kind is due: a message for the relay, for each of the groups, a poll, a waiting generation.
-- What was due before its `from` an earlier look has taken.
SELECT 'OUTBOX' AS source, NULL AS consumer_group, (
  SELECT available_at FROM outbox_events WHERE status = 'PENDING' AND available_at >= :outboxFrom::timestamptz AND type = ANY (:types::text[])
  ORDER BY available_at LIMIT 1
) AS at
UNION ALL
SELECT 'GROUP', reader.consumer_group, (
  SELECT available_at FROM bus_messages WHERE consumer_group = reader.consumer_group AND status = 'READY'
    AND available_at >= reader.due_from
  ORDER BY available_at LIMIT 1
)
FROM unnest(:groups::text[], :groupFroms::timestamptz[]) AS reader (consumer_group, due_from)
UNION ALL
SELECT 'POLLS', NULL, (
  SELECT min(next_poll_at) FROM task_attempts
  WHERE next_poll_at IS NOT NULL AND next_poll_at >= :pollsFrom::timestamptz
)
UNION ALL
SELECT 'QUEUE', NULL, (
  SELECT min(schedule_at) FROM generation_tasks
  WHERE schedule_at IS NOT NULL AND schedule_at >= :waitingFrom::timestamptz
)
