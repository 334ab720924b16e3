-- Ends an upload. Guard: it is still OPEN; otherwise no row is answered.
UPDATE upload_sessions
SET status = :toStatus, completed_at = CASE WHEN :toStatus = 'COMPLETED' THEN :now::timestamptz END
WHERE id = :sessionId AND status = 'OPEN'
RETURNING id
