-- What was asked of a generation.
SELECT prompt, body FROM generation_requests WHERE task_id = :taskId
