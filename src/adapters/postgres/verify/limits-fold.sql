-- What a limit counts as spent is what the holds that were opened in its period hold or settled, with what adjustments of their
-- generations charged, less what refunds and adjustments gave back.
SELECT l.id AS subject,
  format('counts %s spent of %s, the entries fold to %s', l.spent_micros, l.limit_micros, folded.micros) AS detail
FROM spend_limits l
CROSS JOIN LATERAL (
  SELECT greatest(0, coalesce(sum(CASE h.status WHEN 'OPEN' THEN h.amount_micros ELSE h.settled_micros END - (
    SELECT coalesce(sum(r.available_delta), 0) FROM credit_ledger r
    WHERE r.task_id = h.task_id AND r.kind IN ('REFUND', 'ADJUSTMENT')
  )), 0)) AS micros
  FROM holds h
  JOIN generation_tasks t ON t.id = h.task_id
  WHERE h.tenant_id = l.tenant_id
    AND (l.api_key_id IS NULL OR l.api_key_id = t.api_key_id)
    AND (l.period = 'TOTAL' OR l.period_start = date_trunc('month', h.opened_at AT TIME ZONE 'UTC')::date)
) AS folded
WHERE l.spent_micros <> folded.micros
ORDER BY l.id
LIMIT :limit::int
