-- A success is paid as quoted: the quote, the price, what was set aside and what was settled are one amount. Its settlement may
-- be on its way; then its hold is open. Any other end is paid only for what the provider is known to have charged.
SELECT t.id AS subject,
  CASE WHEN t.status = 'SUCCEEDED'
    THEN format('quoted %s, priced %s, reserved %s, held %s, settled %s', coalesce(q.price_micros::text, 'nothing'),
      t.price_micros, t.reserved_micros, coalesce(h.amount_micros::text, 'nothing'),
      coalesce(h.settled_micros::text, 'nothing yet'))
    ELSE format('%s settled %s of %s held, the attempts cost %s', t.status, h.settled_micros, h.amount_micros, c.cost)
  END AS detail
FROM generation_tasks t
LEFT JOIN holds h ON h.task_id = t.id
LEFT JOIN quotes q ON q.id = t.quote_id
CROSS JOIN LATERAL (
  SELECT coalesce(sum(cost_amount), 0) AS cost FROM task_attempts WHERE task_id = t.id
) c
WHERE CASE WHEN t.status = 'SUCCEEDED'
  THEN h.id IS NULL OR t.price_micros <> h.amount_micros OR t.reserved_micros <> t.price_micros
    OR (h.status = 'CLOSED' AND h.settled_micros <> t.price_micros)
    OR (t.quote_id IS NOT NULL AND q.price_micros IS DISTINCT FROM t.price_micros)
  ELSE h.status = 'CLOSED' AND h.settled_micros > 0 AND c.cost = 0
END
ORDER BY t.id
LIMIT :limit::int
