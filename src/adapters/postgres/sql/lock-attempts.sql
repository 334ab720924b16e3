-- `lock-attempt` for several, in the order of their ids; their generations' locks come first.
SELECT * FROM task_attempts WHERE id = ANY (:attemptId::uuid[]) ORDER BY id FOR NO KEY UPDATE
