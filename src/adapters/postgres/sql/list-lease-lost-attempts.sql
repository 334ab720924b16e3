-- Attempts before an answer whose worker let the lease run out, never took one since `unleasedBefore`, or is known to be
-- dead: its node has started again, or it has stopped.
SELECT * FROM task_attempts
WHERE completed_at IS NULL AND status IN ('NEW', 'SENDING')
  AND (
    lease_until <= :now
    OR lease_until IS NULL AND created_at <= :unleasedBefore
    OR lease_owner IN (SELECT boot_id FROM worker_instances WHERE stopped_at IS NOT NULL)
  )
ORDER BY created_at
LIMIT :limit
