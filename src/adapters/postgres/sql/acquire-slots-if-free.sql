-- All scopes or none. Scopes are locked in the order of their names and before any lease, as in every other statement
-- on slots, so that no two of them wait for each other. A holder that has a lease keeps its token. A scope is looked up
-- from the upper end of its eras, past the dead versions of its row; 64 tokens make an era. The update says twice where its
-- rows are, so that no plan walks the whole table to meet them.
WITH present AS (
  UPDATE slot_leases SET expires_at = GREATEST(expires_at, :expiresAt::timestamptz)
  WHERE holder = :holder::uuid
  RETURNING token
),
wanted AS MATERIALIZED (
  SELECT w.scope, w.limit_max, w.place, latest.era
  FROM unnest(:scopes::text[], :limits::int[]) WITH ORDINALITY AS w (scope, limit_max, place)
  CROSS JOIN LATERAL (
    SELECT c.era FROM slot_scopes c WHERE c.scope COLLATE "C" = w.scope ORDER BY c.era DESC LIMIT 1
  ) AS latest
  WHERE NOT EXISTS (SELECT 1 FROM present)
  ORDER BY w.scope
),
locked AS MATERIALIZED (
  SELECT wanted.scope, held.in_use, wanted.era, wanted.limit_max, wanted.place
  FROM wanted
  CROSS JOIN LATERAL (
    SELECT s.in_use FROM slot_scopes s WHERE s.scope COLLATE "C" = wanted.scope AND s.era >= wanted.era FOR UPDATE
  ) AS held
),
verdict AS (
  SELECT count(*)::int AS known,
         (array_agg(scope ORDER BY place) FILTER (WHERE in_use >= limit_max))[1] AS full_scope
  FROM locked
),
lease AS (
  INSERT INTO slot_leases (holder, scopes, token, expires_at, created_at)
  SELECT :holder::uuid, :scopes::text[], nextval('slot_tokens'), :expiresAt::timestamptz, :now::timestamptz
  FROM verdict
  WHERE full_scope IS NULL AND known = cardinality(:scopes::text[]) AND NOT EXISTS (SELECT 1 FROM present)
  ON CONFLICT (holder) DO NOTHING
  RETURNING token
),
taken AS (
  UPDATE slot_scopes s
  SET in_use = s.in_use + 1, limit_max = locked.limit_max, updated_at = :now::timestamptz,
    era = GREATEST(s.era, lease.token / 64)
  FROM locked, lease
  WHERE s.scope COLLATE "C" = locked.scope AND s.era >= locked.era
    AND s.scope COLLATE "C" = ANY (:scopes::text[]) AND s.era >= (SELECT min(era) FROM locked)
  RETURNING s.scope
)
SELECT COALESCE((SELECT token FROM present), (SELECT token FROM lease)) AS token,
       verdict.full_scope,
       verdict.known
FROM verdict
