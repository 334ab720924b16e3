-- One row per consumer group and event; a row that is there already stays as it is. A message that is due is stamped
-- with the instant of its publication, so that due messages keep the order in which they were published.
INSERT INTO bus_messages (consumer_group, event_id, type, envelope, status, available_at, created_at)
SELECT m.consumer_group, m.event_id, m.type, m.envelope::jsonb, 'READY',
       GREATEST(m.available_at, :now::timestamptz), :now::timestamptz
FROM unnest(:consumerGroups::text[], :eventIds::uuid[], :types::text[], :envelopes::text[], :availableAts::timestamptz[])
  WITH ORDINALITY AS m (consumer_group, event_id, type, envelope, available_at, place)
ORDER BY m.place
ON CONFLICT (consumer_group, event_id) DO NOTHING
