-- Hands messages back for another try; after `triesMax` tries they are dead. Guard: only pending ones.
UPDATE outbox_events
SET available_at = :retryAt, last_error = :error,
  status = CASE WHEN publish_attempts >= :triesMax THEN 'DEAD' ELSE 'PENDING' END
WHERE id = ANY (:eventIds::uuid[]) AND status = 'PENDING'
