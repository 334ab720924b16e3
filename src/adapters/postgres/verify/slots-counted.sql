-- Of the database's own scopes, and of those that another store counts.
SELECT s.scope AS subject, format('counts %s in use, %s leases hold it', s.in_use, held.leases) AS detail
FROM slot_scopes s
CROSS JOIN LATERAL (SELECT count(*) AS leases FROM slot_leases l WHERE s.scope = ANY (l.scopes)) AS held
WHERE s.in_use <> held.leases
UNION ALL
SELECT scope, format('counts %s in use, %s leases hold it', coalesce(u.amount, 0), coalesce(h.leases, 0))
FROM (SELECT reference AS scope, amount FROM evidence WHERE kind = 'slots_used') AS u
FULL JOIN (
  SELECT reference AS scope, count(*) AS leases FROM evidence WHERE kind = 'slot_lease_scope' GROUP BY reference
) AS h USING (scope)
WHERE coalesce(u.amount, 0) <> coalesce(h.leases, 0)
ORDER BY subject
LIMIT :limit::int
