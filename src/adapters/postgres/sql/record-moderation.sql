-- Records a moderation decision; earlier ones of the subject stay.
INSERT INTO moderation_decisions (
  id, tenant_id, subject_kind, subject_id, verdict, reason_code, rules_version, decided_by, created_at
)
VALUES (:id, :tenantId, :subjectKind, :subjectId, :verdict, :reasonCode, :rulesVersion, :decidedBy, :now)
