-- Since when the oldest message that should be out waits; null when none does. One that failed before waits since it
-- happened, whatever its next try; the first thousand pending ones are looked at. A type that this version does not know is
-- not its to relay, and makes nothing late.
SELECT min(since) AS since FROM (
  SELECT CASE WHEN last_error IS NULL THEN available_at ELSE occurred_at END AS since
  FROM outbox_events
  WHERE status = 'PENDING' AND (available_at <= :now OR last_error IS NOT NULL)
    AND type = ANY (:types::text[])
  ORDER BY available_at, id
  LIMIT 1000
) AS waiting
