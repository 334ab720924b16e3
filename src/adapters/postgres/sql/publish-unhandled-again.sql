-- Lets the relay publish again, under its own id, all that left since an instant and that one of its readers has not handled.
-- Guard: what still waits on a bus of this database stays one message; what was handled is known by its id.
UPDATE outbox_events e
SET status = 'PENDING', published_at = NULL, available_at = :now::timestamptz
WHERE e.status = 'PUBLISHED' AND e.published_at >= :since::timestamptz
  AND EXISTS (
    SELECT 1 FROM unnest(:types::text[], :groups::text[]) AS reader (type, consumer_group)
    WHERE reader.type = e.type AND NOT EXISTS (
      SELECT 1 FROM inbox_dedup i WHERE i.consumer_group = reader.consumer_group AND i.event_id = e.id
    )
  )
RETURNING e.id
