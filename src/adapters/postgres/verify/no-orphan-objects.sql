-- Each object is what an asset row says: itself, a file of its folder, an upload under way. What a step has just written
-- is no orphan while its generation lives, or before the time to settle is over.
WITH stored AS (
  SELECT e.reference AS key, (regexp_match(e.reference, '^tenants/[^/]+/tasks/([0-9a-f-]{36})/'))[1]::uuid AS task_id,
    (regexp_match(e.reference, '^(?:quarantine/)?tenants/[^/]+/assets/([0-9a-f-]{36})/'))[1]::uuid AS asset_id
  FROM evidence e
  WHERE e.kind = 'object' AND e.at < :settledBefore::timestamptz
)
SELECT s.key AS subject, 'no asset knows it' AS detail
FROM stored s
WHERE NOT EXISTS (
    SELECT 1 FROM assets a
    WHERE (s.task_id IS NOT NULL AND a.task_id = s.task_id AND a.object_key = s.key)
      OR (a.id = s.asset_id AND (a.object_key = s.key OR (a.quarantine_key = s.key AND a.status IN ('UPLOADING', 'VALIDATING'))))
  )
  AND NOT EXISTS (
    SELECT 1 FROM assets a
    WHERE a.parent_asset_id = s.asset_id
      AND (a.object_key = s.key OR (right(a.object_key, 1) = '/' AND starts_with(s.key, a.object_key)))
  )
  AND NOT EXISTS (
    SELECT 1 FROM generation_tasks t
    WHERE t.id = coalesce(s.task_id, (SELECT raw.task_id FROM assets raw WHERE raw.id = s.asset_id))
      AND (t.finished_at IS NULL OR t.finished_at >= :settledBefore::timestamptz)
  )
ORDER BY s.key
LIMIT :limit::int
