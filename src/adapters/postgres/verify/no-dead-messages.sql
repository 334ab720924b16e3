SELECT event_id AS subject,
  format('%s gave up %s after %s deliveries: %s', consumer_group, type, deliveries, coalesce(left(last_error, 100), '')) AS detail
FROM bus_messages
WHERE status = 'DEAD'
ORDER BY event_id
LIMIT :limit::int
