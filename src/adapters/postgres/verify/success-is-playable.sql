-- The output of a success and the raw file that it was made of are there to be played, or wait for a person. Afterwards they
-- may go in two ways only: by a review, which is recorded, and by the end of their keeping. That the bytes of what is
-- playable are stored is asked elsewhere.
SELECT t.id AS subject,
  format('%s %s is %s%s', a.kind, a.id, a.status, CASE a.status
    WHEN 'REJECTED' THEN ', and nobody rejected it'
    WHEN 'DELETED' THEN ', and nobody knows since when'
    ELSE CASE WHEN a.status IN ('READY', 'IN_REVIEW') THEN ' without size and checksum' ELSE '' END
  END) AS detail
FROM generation_tasks t
JOIN assets played ON played.id = t.output_asset_id
JOIN assets a ON a.id IN (played.id, played.parent_asset_id)
WHERE t.status = 'SUCCEEDED' AND played.task_id = t.id
  AND CASE a.status
    WHEN 'READY' THEN a.size_bytes IS NULL OR a.sha256 IS NULL
    WHEN 'IN_REVIEW' THEN a.size_bytes IS NULL OR a.sha256 IS NULL
    WHEN 'REJECTED' THEN NOT EXISTS (
      SELECT 1 FROM moderation_decisions m JOIN assets judged ON judged.id::text = m.subject_id AND judged.task_id = t.id
      WHERE m.subject_kind = 'OUTPUT' AND m.verdict = 'REJECT'
    )
    WHEN 'DELETED' THEN a.deleted_at IS NULL
    ELSE true
  END
ORDER BY t.id, a.id
LIMIT :limit::int
