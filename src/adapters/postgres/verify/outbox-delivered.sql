-- A row that was published is in every reader's memory or still on the bus. A row that is due and older than the newest
-- published one by more than the time to settle was passed over; while the relay rests nothing is late. Days whose memory
-- may have been dropped are left out.
WITH reader AS (
  SELECT * FROM unnest(:readTypes::text[], :readerGroups::text[]) AS r (type, consumer_group)
),
newest AS (
  SELECT max(published_at) AS published_at
  FROM (SELECT published_at FROM outbox_events ORDER BY id DESC LIMIT 10000) AS recent
)
SELECT o.id AS subject, format('%s is %s', o.type, CASE o.status
    WHEN 'DEAD' THEN 'dead: ' || coalesce(left(o.last_error, 100), 'no reason')
    WHEN 'PENDING' THEN CASE WHEN o.type = ANY (:readTypes::text[]) THEN 'passed over'
      ELSE 'left to a version that knows its type,' END || ' since ' || o.available_at
    ELSE 'published, and unknown to ' || reader.consumer_group END) AS detail
FROM outbox_events o
LEFT JOIN reader ON reader.type = o.type AND o.status = 'PUBLISHED'
CROSS JOIN newest
WHERE o.id >= :since::uuid
  AND CASE o.status
    WHEN 'DEAD' THEN true
    WHEN 'PENDING' THEN o.available_at < newest.published_at - :settleMs::float8 * interval '1 millisecond'
    ELSE reader.consumer_group IS NOT NULL
      AND NOT EXISTS (
        SELECT 1 FROM inbox_dedup i WHERE i.consumer_group = reader.consumer_group AND i.event_id = o.id
      )
      AND NOT EXISTS (
        SELECT 1 FROM bus_messages b WHERE b.consumer_group = reader.consumer_group AND b.event_id = o.id
      )
  END
ORDER BY o.id
LIMIT :limit::int
