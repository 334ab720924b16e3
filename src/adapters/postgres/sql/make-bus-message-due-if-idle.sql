-- A message that waits for its next try, or is dead, is delivered now. Guard: one that is leased stays with whoever works on it.
UPDATE bus_messages
SET status = 'READY', available_at = :now::timestamptz,
    deliveries = CASE WHEN status = 'DEAD' THEN 0 ELSE deliveries END
WHERE consumer_group = :consumerGroup AND event_id = :eventId::uuid
  AND lease_token IS NULL
  AND (status = 'DEAD' OR available_at > :now::timestamptz)
RETURNING id
