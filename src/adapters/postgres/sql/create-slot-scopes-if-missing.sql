INSERT INTO slot_scopes (scope, in_use, limit_max, updated_at)
SELECT w.scope, 0, w.limit_max, :now::timestamptz
FROM unnest(:scopes::text[], :limits::int[]) AS w (scope, limit_max)
ORDER BY w.scope
ON CONFLICT (scope) DO NOTHING
