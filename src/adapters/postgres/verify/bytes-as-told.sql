-- The bytes have the checksum that the row of their asset says, and those of the other files of a folder the one that the store
-- noted when they were written.
SELECT coalesce(a.id::text, b.reference) AS subject,
  format('the bytes at %s have %s, it should be %s', b.reference, b.id, coalesce(a.sha256, o.id, 'none')) AS detail
FROM evidence b
JOIN evidence o ON o.kind = 'object' AND o.reference = b.reference
LEFT JOIN assets a ON a.object_key || CASE WHEN right(a.object_key, 1) = '/' THEN a.entry_name ELSE '' END = b.reference
WHERE b.kind = 'bytes'
  AND CASE WHEN a.id IS NULL THEN b.id IS DISTINCT FROM o.id
    ELSE b.id IS DISTINCT FROM a.sha256 AND (a.status IN ('READY', 'IN_REVIEW') OR a.kind = 'RAW_OUTPUT')
      AND a.updated_at < :settledBefore::timestamptz END
ORDER BY 1
LIMIT :limit::int
