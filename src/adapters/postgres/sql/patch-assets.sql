-- `patch-asset` for several. Guard, for each: its row still has the version that was read; of one that has not, no row is
-- answered.
UPDATE assets t
SET status = step.to_status, version = t.version + 1, updated_at = step.now, (
  object_key, quarantine_key, entry_name, size_bytes, sha256, detected_mime, duration_ms, width, height,
  frame_rate_num, frame_rate_den, facts, rejection_code, rejection_detail, deleted_at
) = (
  SELECT p.object_key, p.quarantine_key, p.entry_name, p.size_bytes, p.sha256, p.detected_mime, p.duration_ms,
    p.width, p.height, p.frame_rate_num, p.frame_rate_den, p.facts, p.rejection_code, p.rejection_detail, p.deleted_at
  FROM jsonb_populate_record(t, step.patch) AS p
)
FROM unnest(:assetId::uuid[], :version::integer[], :toStatus::text[], :patch::jsonb[], :now::timestamptz[])
  AS step (asset_id, version, to_status, patch, now)
WHERE t.id = step.asset_id AND t.version = step.version AND t.id = ANY (:assetId::uuid[])
RETURNING t.*
