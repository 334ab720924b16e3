SELECT available_at
FROM bus_messages
WHERE consumer_group = :consumerGroup AND status = 'READY' AND available_at >= :from::timestamptz
ORDER BY available_at
LIMIT 1
