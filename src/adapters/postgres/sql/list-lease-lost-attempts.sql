-- Attempts before an answer whose worker let the lease run out, never took one since `unleasedBefore`, or is known to be
-- dead: its node has started again, or it has stopped. One that nobody took yet was perhaps asked for a moment ago: then the
-- message is on its way, and another one would only lengthen the line it stands in.
SELECT * FROM task_attempts
WHERE completed_at IS NULL AND status IN ('NEW', 'SENDING')
  AND (
    lease_until <= :now
    OR lease_until IS NULL AND created_at <= :unleasedBefore AND EXISTS (
      SELECT 1 FROM generation_tasks
      WHERE generation_tasks.id = task_attempts.task_id AND generation_tasks.updated_at <= :unleasedBefore
    )
    OR lease_owner IN (SELECT boot_id FROM worker_instances WHERE stopped_at IS NOT NULL)
  )
ORDER BY created_at
LIMIT :limit
