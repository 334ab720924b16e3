-- Locks the scopes first, as acquiring does; deletes the lease only then, and counts down only what it deleted. A scope is
-- looked up from the upper end of its eras, past the dead versions of its row. The update says twice where its rows are, so
-- that no plan walks the whole table to meet them.
WITH held AS (
  SELECT scopes FROM slot_leases WHERE holder = :holder::uuid AND token = :token::bigint
),
wanted AS MATERIALIZED (
  SELECT w.scope, latest.era
  FROM held
  CROSS JOIN LATERAL unnest(held.scopes) AS w (scope)
  CROSS JOIN LATERAL (
    SELECT c.era FROM slot_scopes c WHERE c.scope COLLATE "C" = w.scope ORDER BY c.era DESC LIMIT 1
  ) AS latest
  ORDER BY w.scope
),
locked AS MATERIALIZED (
  SELECT wanted.scope, wanted.era
  FROM wanted
  CROSS JOIN LATERAL (
    SELECT 1 FROM slot_scopes s WHERE s.scope COLLATE "C" = wanted.scope AND s.era >= wanted.era FOR UPDATE
  ) AS held
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
  WHERE s.scope COLLATE "C" = locked.scope AND s.era >= locked.era
    AND s.scope COLLATE "C" = ANY (ARRAY(SELECT scope FROM locked)) AND s.era >= (SELECT min(era) FROM locked)
  RETURNING s.scope
)
SELECT scopes FROM released
