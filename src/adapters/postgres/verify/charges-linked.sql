SELECT e.id AS subject, format('%s for %s, no attempt of ours', e.amount, coalesce(e.reference, 'nobody')) AS detail
FROM evidence e
WHERE e.kind = 'charge'
  AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.request_key = e.reference)
  -- Of a generation that a restored database has forgotten: written down as found.
  AND NOT EXISTS (
    SELECT 1 FROM findings f WHERE f.kind = 'UNTRACKED_PROVIDER_JOB' AND f.detail->>'requestKey' = e.reference
  )
ORDER BY e.id
LIMIT :limit::int
