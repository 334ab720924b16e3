-- Records an asset, unless its business key is taken: then no row is answered.
INSERT INTO assets (
  id, tenant_id, project_id, task_id, attempt_id, parent_asset_id, kind, status, version, file_name, object_key,
  quarantine_key, entry_name, size_bytes, sha256, declared_mime, detected_mime, pipeline_version, business_key,
  created_at, updated_at
)
VALUES (
  :id, :tenantId, :projectId, :taskId, :attemptId, :parentAssetId, :kind, :status, 1, :fileName, :objectKey,
  :quarantineKey, :entryName, :sizeBytes, :sha256, :declaredMime, :detectedMime, :pipelineVersion, :businessKey,
  :now, :now
)
ON CONFLICT (business_key) DO NOTHING
RETURNING id
