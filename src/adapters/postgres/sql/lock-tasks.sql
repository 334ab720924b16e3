-- `lock-task` for several, in the order of their ids.
SELECT * FROM generation_tasks WHERE id = ANY (:taskId::uuid[]) ORDER BY id FOR NO KEY UPDATE
