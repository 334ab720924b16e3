-- A success is paid as quoted. Any other end is paid only for what the provider is known to have charged.
SELECT t.id AS subject,
  format('%s settled %s of %s held, the attempts cost %s', t.status, h.settled_micros, h.amount_micros, c.cost) AS detail
FROM generation_tasks t
JOIN holds h ON h.task_id = t.id AND h.status = 'CLOSED'
CROSS JOIN LATERAL (
  SELECT coalesce(sum(cost_amount), 0) AS cost FROM task_attempts WHERE task_id = t.id
) c
WHERE (t.status = 'SUCCEEDED' AND h.settled_micros <> least(t.price_micros, h.amount_micros))
  OR (t.status <> 'SUCCEEDED' AND h.settled_micros > 0 AND c.cost = 0)
ORDER BY t.id
LIMIT :limit::int
