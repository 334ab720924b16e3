-- Counts a callback that was refused. Guard: the attempt it speaks of exists, so that strangers write nothing.
INSERT INTO callback_refusals (provider_id, request_key, reason, refusals, first_at, last_at)
SELECT a.provider_id, a.request_key, :reason, 1, :now, :now
FROM task_attempts a
WHERE a.provider_id = :providerId AND a.request_key = :requestKey
ON CONFLICT (provider_id, request_key, reason) DO UPDATE
SET refusals = callback_refusals.refusals + 1, last_at = excluded.last_at
