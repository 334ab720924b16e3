-- Attempts before an answer whose worker let the lease run out, or never took one since `unleasedBefore`.
SELECT * FROM task_attempts
WHERE completed_at IS NULL AND status IN ('NEW', 'SENDING')
  AND (lease_until <= :now OR lease_until IS NULL AND created_at <= :unleasedBefore)
ORDER BY created_at
LIMIT :limit
