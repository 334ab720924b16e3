-- Records who did what and why.
INSERT INTO audit_log (
  id, tenant_id, actor, action, subject_kind, subject_id, reason, before, after, created_at
)
VALUES (:id, :tenantId, :actor, :action, :subjectKind, :subjectId, :reason, :before, :after, :now)
