-- A lease that nobody claims goes only when it has expired: its holder may be between taking the slot and committing
-- the attempt that proves it. A lease that stands keeps its token, whose holder may be alive. The list may be older than
-- this statement: an attempt that has completed since neither gets a lease nor keeps one.
WITH given AS (
  SELECT (g.value ->> 'holder')::uuid AS holder,
         ARRAY (SELECT jsonb_array_elements_text(g.value -> 'scopes')) AS scopes
  FROM jsonb_array_elements(:holders::jsonb) AS g (value)
),
removed AS (
  DELETE FROM slot_leases l
  WHERE (l.expires_at <= :now::timestamptz AND NOT EXISTS (SELECT 1 FROM given WHERE given.holder = l.holder))
    OR EXISTS (SELECT 1 FROM task_attempts a WHERE a.id = l.holder AND a.completed_at IS NOT NULL)
  RETURNING l.holder
),
kept AS (
  UPDATE slot_leases l
  SET scopes = given.scopes, expires_at = GREATEST(l.expires_at, :expiresAt::timestamptz)
  FROM given
  WHERE l.holder = given.holder
    AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.id = l.holder AND a.completed_at IS NOT NULL)
  RETURNING l.holder
),
added AS (
  INSERT INTO slot_leases (holder, scopes, token, expires_at, created_at)
  SELECT given.holder, given.scopes, nextval('slot_tokens'), :expiresAt::timestamptz, :now::timestamptz
  FROM given
  WHERE NOT EXISTS (SELECT 1 FROM slot_leases l WHERE l.holder = given.holder)
    AND NOT EXISTS (SELECT 1 FROM task_attempts a WHERE a.id = given.holder AND a.completed_at IS NOT NULL)
  RETURNING holder
)
SELECT (SELECT count(*)::int FROM removed) AS removed,
       (SELECT count(*)::int FROM added) AS added
