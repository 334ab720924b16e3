-- Ends findings of kinds that each pass looks for anew, and that the latest one did not see.
UPDATE findings SET resolved_at = :now
WHERE resolved_at IS NULL AND kind = ANY (:kinds::text[]) AND last_seen_at < :since
