-- Attempts that may have a living job at the provider.
SELECT * FROM task_attempts
WHERE completed_at IS NULL AND status IN ('NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING')
ORDER BY created_at
