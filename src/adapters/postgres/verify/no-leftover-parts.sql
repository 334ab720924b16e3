-- Parts lie in the store for an upload that is open, and for nothing else. What a writer of the product's own may still be sending
-- is no evidence before it is old enough to be swept.
SELECT e.reference AS subject, format('upload %s in parts since %s', e.id, e.at) AS detail
FROM evidence e
WHERE e.kind = 'parts' AND e.at < :settledBefore::timestamptz
  AND NOT EXISTS (
    SELECT 1 FROM upload_sessions u
    WHERE u.quarantine_key = e.reference AND u.status = 'OPEN' AND u.method = 'PARTS'
  )
ORDER BY e.reference, e.id
LIMIT :limit::int
