-- `match-provider-event` for several.
UPDATE provider_events t
SET attempt_id = seen.attempt_id, matched_at = coalesce(t.matched_at, seen.now), outcome = seen.outcome
FROM unnest(:id::uuid[], :attemptId::uuid[], :outcome::text[], :now::timestamptz[]) AS seen (id, attempt_id, outcome, now)
WHERE t.id = seen.id AND t.id = ANY (:id::uuid[])
