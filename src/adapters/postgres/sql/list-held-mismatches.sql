-- Tenants whose account holds another amount than their open holds together: both are read at one instant.
SELECT a.tenant_id, a.held_micros, coalesce(o.open_micros, 0) AS open_micros
FROM accounts a
LEFT JOIN (
  SELECT tenant_id, sum(amount_micros)::bigint AS open_micros FROM holds WHERE status = 'OPEN' GROUP BY tenant_id
) AS o USING (tenant_id)
WHERE a.held_micros <> coalesce(o.open_micros, 0)
LIMIT :limit
