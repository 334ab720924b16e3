-- What is stored has the size that its row says, a folder of files as a whole, and the checksum that the store noted when it was
-- written. Rows are written after their objects, and no object that a row names is overwritten. A row that has failed or was
-- rejected vouches for nothing: that other bytes were found may be why.
WITH stored AS (
  SELECT reference AS place, amount AS bytes, id AS sha256 FROM evidence WHERE kind = 'object'
  UNION ALL
  SELECT folder.place, folder.bytes, entry.id
  FROM (
    -- tenants/…/assets/…/profile/version/, with what lies in folders below it.
    SELECT substring(reference FROM '^tenants/[^/]+/assets/[^/]+/[^/]+/[^/]+/') AS place, sum(amount) AS bytes
    FROM evidence WHERE kind = 'object' GROUP BY 1
  ) AS folder
  JOIN assets a ON a.object_key = folder.place
  LEFT JOIN evidence entry ON entry.kind = 'object' AND entry.reference = folder.place || a.entry_name
)
SELECT a.id AS subject, format('%s has %s bytes with %s, stored at %s are %s with %s', a.kind, coalesce(a.size_bytes::text, 'no'),
  coalesce(a.sha256, 'no checksum'), a.object_key, s.bytes, coalesce(s.sha256, 'no entry file')) AS detail
FROM assets a
JOIN stored s ON s.place = a.object_key
WHERE (a.status IN ('READY', 'IN_REVIEW') OR (a.kind = 'RAW_OUTPUT' AND a.status NOT IN ('FAILED', 'REJECTED'))) AND a.updated_at < :settledBefore::timestamptz
  AND (a.size_bytes IS DISTINCT FROM s.bytes OR (s.sha256 IS NOT NULL AND a.sha256 IS DISTINCT FROM s.sha256))
ORDER BY a.id
LIMIT :limit::int
