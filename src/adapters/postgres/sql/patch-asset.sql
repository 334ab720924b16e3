-- Changes an asset and its status. Guard: the row still has the version that was read; otherwise no row is answered.
-- Columns that the patch does not name keep their values.
UPDATE assets t
SET status = :toStatus, version = t.version + 1, updated_at = :now, (
  object_key, quarantine_key, entry_name, size_bytes, sha256, detected_mime, duration_ms, width, height,
  frame_rate_num, frame_rate_den, facts, rejection_code, rejection_detail, deleted_at
) = (
  SELECT p.object_key, p.quarantine_key, p.entry_name, p.size_bytes, p.sha256, p.detected_mime, p.duration_ms,
    p.width, p.height, p.frame_rate_num, p.frame_rate_den, p.facts, p.rejection_code, p.rejection_detail, p.deleted_at
  FROM jsonb_populate_record(t, :patch::jsonb) AS p
)
WHERE t.id = :assetId AND t.version = :version
RETURNING t.*
