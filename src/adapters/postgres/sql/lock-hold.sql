-- The hold of a generation, locked until the transaction ends: what depends on the sum of refunds comes one by one.
SELECT id FROM holds WHERE task_id = :taskId FOR NO KEY UPDATE
