-- Marks an event as handled by a group. Guard: the first time only; a repeat answers no row.
INSERT INTO inbox_dedup (consumer_group, event_id, handled_at) VALUES (:consumerGroup, :eventId, :now)
ON CONFLICT (consumer_group, event_id) DO NOTHING
RETURNING event_id
