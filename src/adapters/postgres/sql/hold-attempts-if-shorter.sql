-- `hold-attempt-if-shorter` for several, locked in the order of their ids. Guard, for each: a hold that lasts longer stays.
WITH held AS MATERIALIZED (
  SELECT t.id, asked.until, asked.now
  FROM unnest(:attemptId::uuid[], :until::timestamptz[], :now::timestamptz[]) AS asked (id, until, now)
  JOIN task_attempts t ON t.id = asked.id
  WHERE t.id = ANY (:attemptId::uuid[])
  ORDER BY t.id
  FOR NO KEY UPDATE OF t
)
UPDATE task_attempts t SET lease_until = held.until, version = t.version + 1, updated_at = held.now
FROM held
WHERE t.id = held.id AND t.id = ANY (:attemptId::uuid[]) AND (t.lease_until IS NULL OR t.lease_until < held.until)
