-- One generation, locked until the transaction ends. Inserts that refer to it are not held up.
SELECT * FROM generation_tasks WHERE id = :taskId FOR NO KEY UPDATE
