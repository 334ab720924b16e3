-- Uploaded assets that nobody has judged since `before`: the message that asks for it may be lost.
SELECT * FROM assets WHERE status = 'VALIDATING' AND updated_at < :before ORDER BY updated_at LIMIT :limit
