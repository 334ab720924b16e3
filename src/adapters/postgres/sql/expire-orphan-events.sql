-- Gives up provider events that no attempt has claimed in time, the oldest first. One that is claimed later is matched all the
-- same.
WITH over AS (
  SELECT id FROM provider_events
  WHERE attempt_id IS NULL AND outcome IS NULL AND expires_at <= :now
  ORDER BY received_at
  LIMIT :limit
  FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE provider_events e SET outcome = 'EXPIRED'
FROM over WHERE e.id = over.id
RETURNING e.id, e.provider_id, e.source, e.status, e.received_at, e.duplicates
