-- One row a tenant and kind, so that an account's past costs no memory. Entries of a tenant without an account come with
-- the first batch.
SELECT tenant_id, NULL::uuid AS task_id, kind, sum(amount_micros)::bigint AS amount_micros,
  sum(available_delta)::bigint AS available_delta, sum(held_delta)::bigint AS held_delta,
  tenant_id || ' ' || kind AS business_key
FROM credit_ledger l
WHERE tenant_id = ANY (:tenantIds::uuid[])
  OR (:first::boolean AND NOT EXISTS (SELECT 1 FROM accounts a WHERE a.tenant_id = l.tenant_id))
GROUP BY tenant_id, kind
