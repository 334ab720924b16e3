-- Keeps messages from the relay until `until`. Guard: only pending ones; one that the relay has taken is missing from the answer.
UPDATE outbox_events SET available_at = :until
WHERE id = ANY (:eventIds::uuid[]) AND status = 'PENDING'
RETURNING id
