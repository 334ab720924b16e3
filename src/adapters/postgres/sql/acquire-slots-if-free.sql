-- All scopes or none. Scopes are locked in the order of their names and before any lease, as in every other statement
-- on slots, so that no two of them wait for each other. A holder that has a lease keeps its token.
WITH present AS (
  UPDATE slot_leases SET expires_at = GREATEST(expires_at, :expiresAt::timestamptz)
  WHERE holder = :holder::uuid
  RETURNING token
),
wanted AS (
  SELECT scope, limit_max, place
  FROM unnest(:scopes::text[], :limits::int[]) WITH ORDINALITY AS w (scope, limit_max, place)
),
locked AS (
  SELECT s.scope, s.in_use, wanted.limit_max, wanted.place
  FROM slot_scopes s
  JOIN wanted ON wanted.scope = s.scope
  WHERE NOT EXISTS (SELECT 1 FROM present)
  ORDER BY s.scope
  FOR UPDATE OF s
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
  SET in_use = s.in_use + 1, limit_max = locked.limit_max, updated_at = :now::timestamptz
  FROM locked, lease
  WHERE s.scope = locked.scope
  RETURNING s.scope
)
SELECT COALESCE((SELECT token FROM present), (SELECT token FROM lease)) AS token,
       verdict.full_scope,
       verdict.known
FROM verdict
