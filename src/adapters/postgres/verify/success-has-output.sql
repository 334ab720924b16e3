-- What a success points to was made for it, of its own raw output.
SELECT t.id AS subject,
  CASE WHEN t.output_asset_id IS NULL THEN 'has no output'
       WHEN a.id IS NULL THEN format('its output %s is not there', t.output_asset_id)
       WHEN a.task_id IS DISTINCT FROM t.id THEN format('its output %s is of %s', a.id, coalesce(a.task_id::text, 'no generation'))
       WHEN a.kind <> 'PROXY' THEN format('its output %s is %s', a.id, a.kind)
       ELSE format('its output %s was made of no raw output of its own', a.id) END AS detail
FROM generation_tasks t
LEFT JOIN assets a ON a.id = t.output_asset_id
LEFT JOIN assets raw ON raw.id = a.parent_asset_id AND raw.task_id = t.id AND raw.kind = 'RAW_OUTPUT'
WHERE t.status = 'SUCCEEDED'
  AND (a.id IS NULL OR a.task_id IS DISTINCT FROM t.id OR a.kind <> 'PROXY' OR raw.id IS NULL)
ORDER BY t.id
LIMIT :limit::int
