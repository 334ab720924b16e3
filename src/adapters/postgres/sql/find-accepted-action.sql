-- Whether an operator's action was ever accepted for a subject.
SELECT id FROM audit_log
WHERE subject_kind = :subjectKind AND subject_id = :subjectId AND action = ANY (:actions::text[])
  AND after->>'refused' IS NULL
LIMIT 1
