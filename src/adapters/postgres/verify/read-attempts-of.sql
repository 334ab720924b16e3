SELECT id, task_id, attempt_no, status, job_id FROM task_attempts WHERE task_id = ANY (:taskIds::uuid[])
