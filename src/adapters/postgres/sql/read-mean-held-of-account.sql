-- How long the latest submits of an account kept their place, in milliseconds; null while none has ended. A bounded look:
-- ids begin with their time, so the key's index leads to the latest.
SELECT avg(extract(epoch FROM completed_at - created_at) * 1000)::float8 AS held_ms
FROM (
  SELECT created_at, completed_at
  FROM (SELECT * FROM task_attempts ORDER BY id DESC LIMIT :scanned) AS latest
  WHERE account_id = :accountId AND completed_at IS NOT NULL AND job_id IS NOT NULL
  ORDER BY id DESC
  LIMIT :limit
) AS ended
