SELECT s.scope AS subject, format('counts %s in use, %s leases hold it', s.in_use, held.leases) AS detail
FROM slot_scopes s
CROSS JOIN LATERAL (SELECT count(*) AS leases FROM slot_leases l WHERE s.scope = ANY (l.scopes)) AS held
WHERE s.in_use <> held.leases
ORDER BY s.scope
LIMIT :limit::int
