SELECT a.id AS subject, format('%s is %s, and nothing is stored at %s', a.kind, a.status, a.object_key) AS detail
FROM assets a
WHERE a.status IN ('READY', 'IN_REVIEW') AND a.updated_at < :settledBefore::timestamptz
  AND NOT EXISTS (
    SELECT 1 FROM evidence e
    WHERE e.kind = 'object'
      AND e.reference = CASE WHEN right(a.object_key, 1) = '/' THEN a.object_key || a.entry_name ELSE a.object_key END
  )
ORDER BY a.id
LIMIT :limit::int
