-- What a generation says it cost is what its hold and its SETTLE entry say.
SELECT t.id AS subject,
  format('the generation says %s, its hold %s, its entries %s', t.settled_micros, h.settled_micros, l.settled) AS detail
FROM generation_tasks t
JOIN holds h ON h.task_id = t.id AND h.status = 'CLOSED'
CROSS JOIN LATERAL (
  SELECT coalesce(sum(amount_micros), 0) AS settled FROM credit_ledger WHERE task_id = t.id AND kind = 'SETTLE'
) l
WHERE t.settled_micros IS DISTINCT FROM h.settled_micros OR h.settled_micros <> l.settled
ORDER BY t.id
LIMIT :limit::int
