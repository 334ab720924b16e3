-- Generations that ended before `before` and whose hold is still open, unless their settlement was asked for since.
SELECT t.id FROM holds h JOIN generation_tasks t ON t.id = h.task_id
WHERE h.status = 'OPEN' AND t.finished_at < :before AND NOT EXISTS (
  SELECT 1 FROM outbox_events o
  WHERE o.aggregate_id = t.id AND o.type = 'billing.settlement.requested' AND o.occurred_at >= :before
)
ORDER BY h.opened_at
LIMIT :limit
