-- One attempt, locked until the transaction ends; its generation's lock comes first.
SELECT * FROM task_attempts WHERE id = :attemptId FOR NO KEY UPDATE
