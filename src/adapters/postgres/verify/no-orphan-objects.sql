-- Each object belongs to a row, by the rule of the sweep that deletes orphans. What a step has just written is no orphan
-- while its generation lives, or before the time to settle is over. What a restored database has forgotten is left to that
-- sweep, which takes what is a day old.
SELECT e.reference AS subject, 'no asset knows it' AS detail
FROM evidence e
WHERE e.kind = 'object' AND e.at < :settledBefore::timestamptz
  AND NOT object_has_owner(e.reference, :settledBefore::timestamptz)
  AND NOT EXISTS (
    SELECT 1 FROM database_lives l
    WHERE l.restored AND e.at < l.began_at AND l.began_at > :settledBefore::timestamptz - interval '2 days'
  )
ORDER BY e.reference
LIMIT :limit::int
