-- Attempts by their ids; unknown ids are missing from the answer.
SELECT * FROM task_attempts WHERE id = ANY (:attemptId::uuid[])
