-- The holds of generations with what they were settled by, and what refunds and adjustments gave back less what adjustments
-- charged. Under the locks of the holds.
SELECT h.task_id, h.tenant_id, t.status, a.id AS current_attempt_id, t.price_micros, h.amount_micros AS held_micros,
  h.status AS hold_status, coalesce(h.settled_micros, 0) AS settled_micros, n.charged_failure_bearer AS bearer, (
    SELECT coalesce(sum(l.available_delta), 0)::bigint FROM credit_ledger l
    WHERE l.task_id = h.task_id AND l.kind IN ('REFUND', 'ADJUSTMENT')
  ) AS given_back_micros
FROM holds h
JOIN generation_tasks t ON t.id = h.task_id
JOIN tenants n ON n.id = h.tenant_id
JOIN task_attempts a ON a.task_id = h.task_id AND a.attempt_no = t.current_attempt_no
WHERE h.task_id = ANY (:taskIds::uuid[])
ORDER BY h.task_id
