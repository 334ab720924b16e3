-- Attempts whose submit is undecided, those that were looked at longest ago first.
SELECT * FROM task_attempts
WHERE completed_at IS NULL AND status = 'UNKNOWN'
ORDER BY updated_at
LIMIT :limit
