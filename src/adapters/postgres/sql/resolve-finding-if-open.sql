-- A person closes a finding. Guard: it is open.
UPDATE findings SET resolved_at = :now, resolved_by = :by, resolution = :resolution
WHERE id = :findingId AND resolved_at IS NULL
RETURNING id
