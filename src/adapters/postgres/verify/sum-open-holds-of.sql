SELECT tenant_id AS task_id, tenant_id, sum(amount_micros)::bigint AS amount_micros, 'OPEN' AS status
FROM holds
WHERE status = 'OPEN' AND tenant_id = ANY (:tenantIds::uuid[])
GROUP BY tenant_id
