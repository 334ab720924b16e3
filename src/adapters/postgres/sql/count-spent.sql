-- What a tenant, or one of its keys, has spent in the month or ever: what holds hold or settled, less refunds and what
-- adjustments gave back, with what adjustments charged. A hold counts in the month in which it was opened. Under the
-- account's lock, for the start of a limit.
WITH counted AS (
  SELECT h.task_id, CASE h.status WHEN 'OPEN' THEN h.amount_micros ELSE h.settled_micros END AS micros
  FROM holds h
  WHERE h.tenant_id = :tenantId
    AND (:period = 'TOTAL'
      OR h.opened_at >= date_trunc('month', :now::timestamptz AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')
    AND (:apiKeyId::uuid IS NULL OR EXISTS (
      SELECT 1 FROM generation_tasks t WHERE t.id = h.task_id AND t.api_key_id = :apiKeyId
    ))
)
SELECT greatest(0, coalesce(sum(micros), 0) - (
  SELECT coalesce(sum(l.available_delta), 0) FROM credit_ledger l JOIN counted ON counted.task_id = l.task_id
  WHERE l.kind IN ('REFUND', 'ADJUSTMENT')
))::bigint AS spent_micros
FROM counted
