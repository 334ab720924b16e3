-- Attempts whose cost is known since `before` and stands in no book: the message that asks for it may be lost.
SELECT * FROM task_attempts
WHERE cost_amount IS NOT NULL AND cost_booked_at IS NULL AND updated_at < :before
ORDER BY updated_at
LIMIT :limit
