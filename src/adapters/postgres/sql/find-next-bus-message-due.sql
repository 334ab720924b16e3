SELECT available_at
FROM bus_messages
WHERE consumer_group = :consumerGroup AND status = 'READY'
ORDER BY available_at
LIMIT 1
