-- Ends messages that the bus has. Guard: only pending ones.
UPDATE outbox_events SET status = 'PUBLISHED', published_at = :now, last_error = NULL
WHERE id = ANY (:eventIds::uuid[]) AND status = 'PENDING'
