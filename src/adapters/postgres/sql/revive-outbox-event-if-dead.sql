-- Gives a dead message its tries back. Guard: it is dead.
UPDATE outbox_events SET status = 'PENDING', available_at = :now, publish_attempts = 0
WHERE id = :eventId AND status = 'DEAD'
RETURNING id
