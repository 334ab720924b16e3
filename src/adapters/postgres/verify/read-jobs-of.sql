SELECT e.id AS job_id, a.id AS attempt_id
FROM task_attempts a
JOIN evidence e ON e.kind = 'job' AND e.reference = a.request_key
WHERE a.task_id = ANY (:taskIds::uuid[])
