-- Consumer groups in whose inbox the message is.
SELECT consumer_group FROM inbox_dedup WHERE event_id = :eventId
