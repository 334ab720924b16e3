-- When the earliest pending message is due; null when there is none.
SELECT min(available_at) AS at FROM outbox_events WHERE status = 'PENDING'
