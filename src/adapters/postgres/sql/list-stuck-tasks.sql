-- Living generations untouched since `before` whose next step is carried by a message, which may be lost. Waiting
-- ones are the scheduler's, submitted ones the poller's, and those that need an operator wait for one.
SELECT id FROM generation_tasks
WHERE finished_at IS NULL AND NOT needs_operator AND updated_at < :before
  AND (next_retry_at IS NULL OR next_retry_at < :before)
  AND status IN (
    'QUOTA_RESERVED', 'DISPATCHING', 'SUBMIT_UNKNOWN', 'CANCEL_REQUESTED', 'OUTPUT_FETCHING', 'POST_PROCESSING'
  )
ORDER BY updated_at
LIMIT :limit
