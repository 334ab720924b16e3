-- Each object belongs to a row, by the rule of the sweep that deletes orphans. What a step has just written is no orphan
-- while its generation lives, or before the time to settle is over.
SELECT e.reference AS subject, 'no asset knows it' AS detail
FROM evidence e
WHERE e.kind = 'object' AND e.at < :settledBefore::timestamptz
  AND NOT object_has_owner(e.reference, :settledBefore::timestamptz)
ORDER BY e.reference
LIMIT :limit::int
