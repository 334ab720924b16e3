-- Takes over a message from a bus that delivered it, with the count of its deliveries. Guard: one that is here already, waiting or
-- dead, stays as it is: another copy of it has come this way before.
INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, created_at, deliveries, last_error)
SELECT :consumerGroup, :eventId::uuid, :type, :envelope::jsonb,
       CASE WHEN :deliveries::int >= :deliveriesMax::int THEN 'DEAD' ELSE 'READY' END,
       :availableAt::timestamptz, :now::timestamptz, :deliveries::int, :error
ON CONFLICT (consumer_group, event_id) DO NOTHING
RETURNING status
