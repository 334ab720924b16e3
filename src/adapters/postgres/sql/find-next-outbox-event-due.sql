SELECT available_at
FROM outbox_events
WHERE status = 'PENDING' AND available_at >= :from::timestamptz AND type = ANY (:types::text[])
ORDER BY available_at
LIMIT 1
