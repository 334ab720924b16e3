-- The hold of a generation.
SELECT id, tenant_id, task_id, amount_micros, status, settled_micros, close_reason FROM holds WHERE task_id = :taskId
