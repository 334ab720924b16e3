SELECT available_at
FROM outbox_events
WHERE status = 'PENDING' AND type = ANY (:types::text[])
ORDER BY available_at
LIMIT 1
