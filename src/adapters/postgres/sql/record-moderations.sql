-- `record-moderation` for several.
INSERT INTO moderation_decisions (
  id, tenant_id, subject_kind, subject_id, verdict, reason_code, rules_version, decided_by, created_at
)
SELECT *
FROM unnest(
  :id::uuid[], :tenantId::uuid[], :subjectKind::text[], :subjectId::text[], :verdict::text[], :reasonCode::text[],
  :rulesVersion::text[], :decidedBy::text[], :now::timestamptz[]
)
