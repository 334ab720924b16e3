-- How many slots of each scope are given out. A scope is looked up from its last era on, past the dead versions of its row.
SELECT latest.scope, latest.in_use
FROM unnest(:scopes::text[]) AS wanted (scope)
CROSS JOIN LATERAL (
  SELECT s.scope, s.in_use FROM slot_scopes s WHERE s.scope COLLATE "C" = wanted.scope ORDER BY s.era DESC LIMIT 1
) AS latest
