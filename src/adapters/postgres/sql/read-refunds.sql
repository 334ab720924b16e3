-- How often and how much of a generation's settlement was paid back. Under the hold's lock, for the number of the next.
SELECT h.tenant_id, h.status, coalesce(h.settled_micros, 0) AS settled_micros, count(l.id)::integer AS refunds,
  coalesce(sum(l.amount_micros), 0)::bigint AS refunded_micros
FROM holds h LEFT JOIN credit_ledger l ON l.task_id = h.task_id AND l.kind = 'REFUND'
WHERE h.task_id = :taskId
GROUP BY h.id
