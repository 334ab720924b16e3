-- Generations by their ids; unknown ids are missing from the answer.
SELECT * FROM generation_tasks WHERE id = ANY (:taskIds::uuid[])
