-- Locks the scopes first, as acquiring does; deletes the lease only then, and counts down only what it deleted.
WITH held AS (
  SELECT scopes FROM slot_leases WHERE holder = :holder::uuid AND token = :token::bigint
),
locked AS (
  SELECT s.scope
  FROM slot_scopes s
  WHERE s.scope IN (SELECT unnest(held.scopes) FROM held)
  ORDER BY s.scope
  FOR UPDATE OF s
),
released AS (
  DELETE FROM slot_leases
  WHERE holder = :holder::uuid AND token = :token::bigint AND (SELECT count(*) FROM locked) >= 0
  RETURNING scopes
),
freed AS (
  UPDATE slot_scopes s
  SET in_use = s.in_use - 1, updated_at = :now::timestamptz
  FROM locked, released
  WHERE s.scope = locked.scope AND s.scope = ANY (released.scopes)
  RETURNING s.scope
)
SELECT scopes FROM released
