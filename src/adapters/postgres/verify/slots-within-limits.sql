-- After a loss of slots they are made again from the attempts; that may be more than the limit, and is written down.
SELECT s.scope AS subject, format('%s in use of %s', s.in_use, s.limit_max) AS detail
FROM slot_scopes s
WHERE s.in_use > s.limit_max
  AND NOT EXISTS (
    SELECT 1 FROM findings f WHERE f.kind = 'SLOT_DRIFT' AND f.last_seen_at > s.updated_at - interval '10 minutes'
  )
UNION ALL
-- Another store does not say since when; what is over a limit is seen with each comparison.
SELECT u.reference, format('%s in use of %s', u.amount, coalesce(m.amount, 0))
FROM evidence u
LEFT JOIN evidence m ON m.kind = 'slots_limit' AND m.reference = u.reference
WHERE u.kind = 'slots_used'
  AND u.amount > coalesce(m.amount, 0)
  AND NOT EXISTS (
    SELECT 1 FROM findings f
    WHERE f.kind = 'SLOT_DRIFT' AND f.last_seen_at > :settledBefore::timestamptz - interval '10 minutes'
  )
ORDER BY subject
LIMIT :limit::int
