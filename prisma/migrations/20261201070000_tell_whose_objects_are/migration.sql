-- Whether an object of the store belongs to anything: a row names it (itself, its upload, a folder that it lies in), or the
-- generation that may be about to name it lives, or has ended since `ended_since`. The one rule for the sweep that deletes
-- orphans and for the invariant that looks for them. Only keys that the product makes can belong to anything.
CREATE FUNCTION object_has_owner(key text, ended_since timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
  of_task uuid := (regexp_match(key, '^tenants/[^/]+/tasks/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/'))[1];
  of_asset uuid := (regexp_match(key, '^(?:quarantine/)?tenants/[^/]+/assets/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/'))[1];
BEGIN
  IF of_task IS NOT NULL THEN
    RETURN EXISTS (SELECT 1 FROM assets a WHERE a.task_id = of_task AND a.object_key = key)
      OR EXISTS (
        SELECT 1 FROM generation_tasks t
        WHERE t.id = of_task AND (t.finished_at IS NULL OR t.finished_at >= ended_since)
      );
  END IF;
  IF of_asset IS NOT NULL THEN
    RETURN EXISTS (
        SELECT 1 FROM assets a WHERE a.id = of_asset AND (a.object_key = key OR a.quarantine_key = key)
      )
      OR EXISTS (
        SELECT 1 FROM upload_sessions u
        WHERE u.asset_id = of_asset AND u.status = 'OPEN' AND u.quarantine_key = key
      )
      OR EXISTS (
        SELECT 1 FROM assets a
        WHERE a.parent_asset_id = of_asset
          AND (a.object_key = key OR (right(a.object_key, 1) = '/' AND starts_with(key, a.object_key)))
      )
      OR EXISTS (
        SELECT 1 FROM assets raw JOIN generation_tasks t ON t.id = raw.task_id
        WHERE raw.id = of_asset AND (t.finished_at IS NULL OR t.finished_at >= ended_since)
      );
  END IF;
  RETURN false;
END
$$;
