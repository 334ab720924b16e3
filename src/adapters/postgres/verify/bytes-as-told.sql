-- The bytes have the checksum that the row of their asset says, and those of the other files of a folder the one that the store
-- noted when they were written. A row that has failed or was rejected vouches for nothing, and at the raw keys of a generation
-- nothing does but the row: what it does not name is an orphan, or somebody else's.
SELECT coalesce(a.id::text, b.reference) AS subject,
  format('the bytes at %s have %s, it should be %s', b.reference, b.id, coalesce(a.sha256, o.id, 'none')) AS detail
FROM evidence b
JOIN evidence o ON o.kind = 'object' AND o.reference = b.reference
LEFT JOIN assets a ON a.object_key || CASE WHEN right(a.object_key, 1) = '/' THEN a.entry_name ELSE '' END = b.reference
WHERE b.kind = 'bytes'
  AND CASE WHEN a.id IS NULL THEN b.id IS DISTINCT FROM o.id
      AND b.reference !~ '^tenants/[^/]+/tasks/[^/]+/raw/'
      AND NOT EXISTS (
        SELECT 1 FROM assets ended
        WHERE ended.status IN ('FAILED', 'REJECTED') AND (
          ended.quarantine_key = b.reference
          OR ended.object_key = substring(b.reference FROM '^tenants/[^/]+/assets/[^/]+/[^/]+/[^/]+/')
        )
      )
    ELSE b.id IS DISTINCT FROM a.sha256 AND a.updated_at < :settledBefore::timestamptz
      AND (a.status IN ('READY', 'IN_REVIEW') OR (a.kind = 'RAW_OUTPUT' AND a.status NOT IN ('FAILED', 'REJECTED'))) END
ORDER BY 1
LIMIT :limit::int
