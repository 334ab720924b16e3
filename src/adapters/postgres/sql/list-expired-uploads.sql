-- Open uploads whose time is over, the oldest first.
SELECT * FROM upload_sessions WHERE status = 'OPEN' AND expires_at <= :now ORDER BY expires_at LIMIT :limit
