-- Messages that are due and wait, by consumer group, and for how long the oldest has been due. A lease is a time in the future.
SELECT consumer_group AS group, count(*)::int AS waiting,
       (EXTRACT(epoch FROM :now::timestamptz - min(available_at)) * 1000)::int AS oldest_ms
FROM bus_messages
WHERE status = 'READY' AND available_at <= :now::timestamptz
GROUP BY consumer_group
