SELECT tenant_id, task_id, kind, amount_micros, available_delta, held_delta, business_key
FROM credit_ledger
WHERE task_id = ANY (:taskIds::uuid[])
