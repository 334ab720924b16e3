-- Records an anomaly. Guard: one row per business key; a repeat refreshes when and how it was last seen, and opens it again.
INSERT INTO findings (
  id, kind, subject_kind, subject_id, tenant_id, business_key, detail, action_taken, first_seen_at, last_seen_at
)
VALUES (
  :id, :kind, :subjectKind, :subjectId, :tenantId, :businessKey, :detail, :actionTaken, :now, :now
)
ON CONFLICT (business_key) DO UPDATE
SET last_seen_at = greatest(findings.last_seen_at, excluded.last_seen_at), detail = excluded.detail,
  action_taken = coalesce(excluded.action_taken, findings.action_taken),
  resolved_at = NULL, resolved_by = NULL, resolution = NULL
