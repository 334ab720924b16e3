-- `insert-asset` for several: of one whose business key is taken no row is answered.
INSERT INTO assets (
  id, tenant_id, project_id, task_id, attempt_id, parent_asset_id, kind, status, version, file_name, object_key,
  quarantine_key, entry_name, size_bytes, sha256, declared_mime, detected_mime, pipeline_version, business_key,
  created_at, updated_at
)
SELECT a.id, a.tenant_id, a.project_id, a.task_id, a.attempt_id, a.parent_asset_id, a.kind, a.status, 1, a.file_name,
  a.object_key, a.quarantine_key, a.entry_name, a.size_bytes, a.sha256, a.declared_mime, a.detected_mime,
  a.pipeline_version, a.business_key, a.now, a.now
FROM unnest(
  :id::uuid[], :tenantId::uuid[], :projectId::uuid[], :taskId::uuid[], :attemptId::uuid[], :parentAssetId::uuid[],
  :kind::text[], :status::text[], :fileName::text[], :objectKey::text[], :quarantineKey::text[], :entryName::text[],
  :sizeBytes::bigint[], :sha256::text[], :declaredMime::text[], :detectedMime::text[], :pipelineVersion::integer[],
  :businessKey::text[], :now::timestamptz[]
) AS a (
  id, tenant_id, project_id, task_id, attempt_id, parent_asset_id, kind, status, file_name, object_key, quarantine_key,
  entry_name, size_bytes, sha256, declared_mime, detected_mime, pipeline_version, business_key, now
)
ORDER BY a.business_key
ON CONFLICT (business_key) DO NOTHING
RETURNING id
