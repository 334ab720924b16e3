UPDATE bus_messages
SET status = 'READY', available_at = :now::timestamptz, lease_token = NULL, deliveries = 0
WHERE consumer_group = :consumerGroup AND event_id = :eventId::uuid AND status = 'DEAD'
RETURNING id
