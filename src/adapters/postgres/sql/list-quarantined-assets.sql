-- Rejected uploads whose bytes have been kept in quarantine since `before`.
SELECT * FROM assets
WHERE status = 'REJECTED' AND quarantine_key IS NOT NULL AND updated_at < :before
ORDER BY updated_at
LIMIT :limit
