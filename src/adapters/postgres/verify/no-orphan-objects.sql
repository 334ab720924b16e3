-- Each object belongs to a row, by the rule of the sweep that deletes orphans. What a step has just written is no orphan
-- while its generation lives, or before the time to settle is over. What a restored database has forgotten is left to that
-- sweep, which takes what is a day old, and so is what stood in the way of a fetch: the finding of its attempt tells of it, at
-- the keys that the attempt has had.
SELECT e.reference AS subject, 'no asset knows it' AS detail
FROM evidence e
WHERE e.kind = 'object' AND e.at < :settledBefore::timestamptz
  AND NOT object_has_owner(e.reference, :settledBefore::timestamptz)
  AND NOT EXISTS (
    SELECT 1 FROM database_lives l
    WHERE l.restored AND e.at < l.began_at AND l.began_at > :settledBefore::timestamptz - interval '2 days'
  )
  AND NOT EXISTS (
    SELECT 1
    FROM task_attempts a
    JOIN generation_tasks t ON t.id = a.task_id
    JOIN findings f ON f.subject_kind = 'attempt' AND f.subject_id = a.id::text AND f.kind = 'OBJECT_CONFLICT'
    WHERE a.id = substring(e.reference FROM '/raw/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})-0(-g[0-9]{1,6})?$')::uuid
      AND starts_with(e.reference, format('tenants/%s/tasks/%s/raw/', t.tenant_id, t.id))
      AND coalesce(substring(e.reference FROM '-0-g([0-9]{1,6})$'), '1')::int <= t.raw_generation
  )
ORDER BY e.reference
LIMIT :limit::int
