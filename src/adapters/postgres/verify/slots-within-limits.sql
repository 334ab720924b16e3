-- After a loss of slots they are made again from the attempts; that may be more than the limit, and is written down.
SELECT s.scope AS subject, format('%s in use of %s', s.in_use, s.limit_max) AS detail
FROM slot_scopes s
WHERE s.in_use > s.limit_max
  AND NOT EXISTS (
    SELECT 1 FROM findings f WHERE f.kind = 'SLOT_DRIFT' AND f.last_seen_at > s.updated_at - interval '10 minutes'
  )
ORDER BY s.scope
LIMIT :limit::int
