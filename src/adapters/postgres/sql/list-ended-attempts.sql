SELECT id FROM task_attempts WHERE id = ANY (:attemptIds::uuid[]) AND completed_at IS NOT NULL
