-- A job at the provider is its attempt's. Unbound it may only be while the attempt is in doubt, or written down as found.
SELECT e.id AS subject,
  CASE WHEN a.id IS NULL THEN 'belongs to no attempt'
       ELSE format('is not bound to its attempt %s, which is %s', a.id, a.status) END AS detail
FROM evidence e
LEFT JOIN task_attempts a ON a.request_key = e.reference
WHERE e.kind = 'job'
  AND (a.id IS NULL OR a.job_id IS NULL)
  AND coalesce(a.status, '') NOT IN ('SENDING', 'UNKNOWN', 'ABANDONED')
  AND NOT EXISTS (
    SELECT 1 FROM findings f WHERE f.subject_id IN (e.id, a.id::text, a.task_id::text) AND f.kind <> 'STUCK_TASK'
  )
ORDER BY e.id
LIMIT :limit::int
