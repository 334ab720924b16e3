-- When the earliest pending message that is due from `from` on is due; null when there is none.
SELECT min(available_at) AS at FROM outbox_events WHERE status = 'PENDING' AND available_at >= :from
