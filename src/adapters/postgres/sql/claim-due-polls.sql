-- Claims attempts that are due for a poll by moving their next poll to `until`. Rows that another poller is claiming
-- are passed over. The version stays: a claim changes nothing that anybody judges by.
WITH due AS (
  SELECT id FROM task_attempts
  WHERE next_poll_at <= :now
  ORDER BY next_poll_at
  LIMIT :limit
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE task_attempts t SET next_poll_at = :until
FROM due WHERE t.id = due.id
RETURNING t.*
