-- A slot is held for an attempt that may have a living job, or for one that is just being made or ended. Outside of the database a
-- lease that was made again has a later token than its attempt; an earlier one is of a holder that was fenced off.
WITH leases AS (
  SELECT holder::text AS holder, NULL::numeric AS token, expires_at, created_at FROM slot_leases
  UNION ALL
  -- Another store does not say since when.
  SELECT reference, id::numeric, at, at FROM evidence WHERE kind = 'slot_lease'
)
SELECT l.holder AS subject,
  CASE
    WHEN a.id IS NULL THEN 'is held for no attempt'
    WHEN a.status NOT IN ('NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING')
      THEN 'is held for an attempt that is ' || a.status
    ELSE format('is held under token %s, and its attempt has %s', l.token, a.slot_token)
  END AS detail
FROM leases l
LEFT JOIN task_attempts a ON a.id::text = l.holder
WHERE (
    coalesce(a.status, '') NOT IN ('NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING')
    OR l.token < a.slot_token
  )
  AND coalesce(a.updated_at, l.created_at) < :settledBefore::timestamptz
  AND (a.id IS NOT NULL OR l.expires_at < :settledBefore::timestamptz)
ORDER BY l.holder
LIMIT :limit::int
