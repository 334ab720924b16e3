-- An action ends the findings that asked for it. Guard: only open ones.
UPDATE findings SET resolved_at = :now, resolved_by = :by, resolution = :resolution
WHERE kind = :kind AND subject_id = ANY (:subjectIds::text[]) AND resolved_at IS NULL
RETURNING id
