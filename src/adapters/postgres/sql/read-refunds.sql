-- What a generation was charged, by its settlement and by adjustments, what of that was given back, by refunds and by
-- adjustments, and how many refunds there were. Under the hold's lock, for the number of the next.
SELECT h.tenant_id, h.status, count(l.id) FILTER (WHERE l.kind = 'REFUND')::integer AS refunds,
  (coalesce(h.settled_micros, 0) - coalesce(sum(l.available_delta) FILTER (WHERE l.available_delta < 0), 0))::bigint
    AS charged_micros,
  coalesce(sum(l.available_delta) FILTER (WHERE l.available_delta > 0), 0)::bigint AS given_back_micros
FROM holds h LEFT JOIN credit_ledger l ON l.task_id = h.task_id AND l.kind IN ('REFUND', 'ADJUSTMENT')
WHERE h.task_id = :taskId
GROUP BY h.id
