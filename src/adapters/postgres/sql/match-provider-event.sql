-- Joins a provider event to its attempt; the time of the first match stays.
UPDATE provider_events
SET attempt_id = :attemptId, matched_at = coalesce(matched_at, :now), outcome = :outcome
WHERE id = :id
