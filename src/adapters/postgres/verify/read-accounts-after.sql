SELECT tenant_id, available_micros, held_micros
FROM accounts
WHERE tenant_id > :after::uuid
ORDER BY tenant_id
LIMIT :limit::int
