-- Lets the relay publish an aggregate's latest message of a type again, under its own id. Guard: the group has not handled
-- it. Where it still waits on the bus it stays one message; where it was lost it comes back.
-- One that is not published yet keeps its time, unless it is to be due now.
UPDATE outbox_events
SET status = 'PENDING', published_at = NULL,
    available_at = CASE
      WHEN status <> 'PENDING' THEN :now::timestamptz
      WHEN :dueNow::boolean THEN LEAST(available_at, :now::timestamptz)
      ELSE available_at
    END
WHERE id = (
    SELECT id FROM outbox_events
    WHERE aggregate_id = ANY (:aggregateIds::uuid[]) AND type = :type
    ORDER BY id DESC
    LIMIT 1
  )
  AND status <> 'DEAD'
  AND NOT EXISTS (
    SELECT 1 FROM inbox_dedup WHERE consumer_group = :consumerGroup AND event_id = outbox_events.id
  )
RETURNING id
