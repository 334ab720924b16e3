-- Pending messages of types that this version does not know: a newer one wrote them before a rollback.
SELECT type, count(*)::int AS count
FROM outbox_events
WHERE status = 'PENDING' AND type <> ALL (:types::text[])
GROUP BY type
ORDER BY type
