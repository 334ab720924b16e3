SELECT task_id, tenant_id, amount_micros, status FROM holds WHERE task_id = ANY (:taskIds::uuid[])
