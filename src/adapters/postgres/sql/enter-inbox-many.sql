-- Marks several events as handled. Guard: the first time of each only; repeats are missing from the answer.
INSERT INTO inbox_dedup (consumer_group, event_id, handled_at)
SELECT entry.consumer_group, entry.event_id, entry.handled_at
FROM unnest(:consumerGroup::text[], :eventId::uuid[], :now::timestamptz[]) AS entry (consumer_group, event_id, handled_at)
ORDER BY entry.event_id
ON CONFLICT (consumer_group, event_id) DO NOTHING
RETURNING consumer_group, event_id
