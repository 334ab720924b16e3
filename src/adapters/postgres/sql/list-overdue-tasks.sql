-- Living generations for which a deadline is over and still means something: fetching and media have budgets of
-- their own, and after a cancel only the recovery deadline counts.
SELECT id FROM generation_tasks
WHERE finished_at IS NULL AND (
  status IN ('VALIDATING', 'QUEUED', 'RETRY_WAIT', 'DISPATCHING', 'SUBMIT_UNKNOWN', 'SUBMITTED', 'RUNNING')
    AND deadline_at <= :now
  OR status = 'CANCEL_REQUESTED' AND recovery_deadline_at <= :now
)
ORDER BY deadline_at
LIMIT :limit
