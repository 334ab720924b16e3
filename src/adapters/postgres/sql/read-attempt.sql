-- One attempt by its id.
SELECT * FROM task_attempts WHERE id = :attemptId
