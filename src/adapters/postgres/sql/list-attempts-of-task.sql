-- A generation's attempts, the first one first.
SELECT * FROM task_attempts WHERE task_id = :taskId ORDER BY attempt_no
