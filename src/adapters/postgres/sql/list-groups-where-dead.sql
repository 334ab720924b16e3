-- Consumer groups for which the message is dead.
SELECT consumer_group FROM bus_messages WHERE event_id = :eventId::uuid AND status = 'DEAD'
