-- A slot is held for an attempt that may have a living job, or for one that is just being made or ended.
SELECT l.holder AS subject,
  coalesce('is held for an attempt that is ' || a.status, 'is held for no attempt') AS detail
FROM slot_leases l
LEFT JOIN task_attempts a ON a.id = l.holder
WHERE coalesce(a.status, '') NOT IN ('NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING')
  AND coalesce(a.updated_at, l.created_at) < :settledBefore::timestamptz
  AND (a.id IS NOT NULL OR l.expires_at < :settledBefore::timestamptz)
ORDER BY l.holder
LIMIT :limit::int
