-- What was booked from an attempt is what the provider says it charged for it, to the last digit.
SELECT a.id AS subject, format('booked %s, charged %s', booked.amount, coalesce(charged.amount, 0)) AS detail
FROM (
  SELECT attempt_id, sum(amount) AS amount FROM provider_costs
  WHERE source = 'ATTEMPT' AND created_at < :settledBefore::timestamptz
  GROUP BY attempt_id
) AS booked
JOIN task_attempts a ON a.id = booked.attempt_id
LEFT JOIN LATERAL (
  SELECT sum(e.amount) AS amount FROM evidence e WHERE e.kind = 'charge' AND e.reference = a.request_key
) AS charged ON true
WHERE booked.amount <> coalesce(charged.amount, 0)
ORDER BY a.id
LIMIT :limit::int
