-- Scopes that have given out more than their limit, or count more than the leases that hold them.
WITH held AS (
  SELECT taken.scope, count(*)::int AS leases
  FROM slot_leases l CROSS JOIN LATERAL unnest(l.scopes) AS taken (scope)
  GROUP BY taken.scope
)
SELECT s.scope, s.in_use AS counted, coalesce(held.leases, 0) AS leases, s.limit_max
FROM slot_scopes s
LEFT JOIN held ON held.scope = s.scope
WHERE s.in_use > coalesce(held.leases, 0) OR greatest(s.in_use, held.leases) > s.limit_max
ORDER BY s.scope
LIMIT :limit
