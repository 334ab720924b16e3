-- Opens the upload of an asset.
INSERT INTO upload_sessions (
  id, tenant_id, asset_id, status, quarantine_key, file_name, declared_mime, declared_size_bytes, declared_sha256,
  method, part_size_bytes, expires_at, created_at
)
VALUES (
  :id, :tenantId, :assetId, 'OPEN', :quarantineKey, :fileName, :declaredMime, :declaredSizeBytes, :declaredSha256,
  :method, :partSizeBytes, :expiresAt, :now
)
