WITH counted AS (
  SELECT held.scope, count(*)::int AS in_use
  FROM slot_leases l CROSS JOIN LATERAL unnest(l.scopes) AS held (scope)
  GROUP BY held.scope
),
given AS (
  SELECT scope, limit_max FROM unnest(:scopes::text[], :limits::int[]) AS g (scope, limit_max)
),
known AS (
  SELECT scope FROM slot_scopes UNION SELECT scope FROM counted UNION SELECT scope FROM given
)
INSERT INTO slot_scopes (scope, in_use, limit_max, updated_at)
SELECT known.scope, COALESCE(counted.in_use, 0), COALESCE(given.limit_max, s.limit_max, 0), :now::timestamptz
FROM known
LEFT JOIN counted ON counted.scope = known.scope
LEFT JOIN given ON given.scope = known.scope
LEFT JOIN slot_scopes s ON s.scope = known.scope
ORDER BY known.scope
ON CONFLICT (scope) DO UPDATE
SET in_use = EXCLUDED.in_use, limit_max = EXCLUDED.limit_max, updated_at = EXCLUDED.updated_at
WHERE (slot_scopes.in_use, slot_scopes.limit_max) IS DISTINCT FROM (EXCLUDED.in_use, EXCLUDED.limit_max)
