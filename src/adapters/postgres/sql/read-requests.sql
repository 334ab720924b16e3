-- What was asked of several generations; unknown ids are missing from the answer.
SELECT task_id, prompt, body FROM generation_requests WHERE task_id = ANY (:taskIds::uuid[])
