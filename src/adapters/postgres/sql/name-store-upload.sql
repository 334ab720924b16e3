-- Notes by what name the store knows an upload in parts. Guard: it is OPEN and has no name yet; otherwise no row is answered.
UPDATE upload_sessions
SET store_upload_id = :storeUploadId
WHERE id = :sessionId AND status = 'OPEN' AND store_upload_id IS NULL
RETURNING id
