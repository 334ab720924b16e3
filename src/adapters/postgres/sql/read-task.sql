-- One generation by its id.
SELECT * FROM generation_tasks WHERE id = :taskId
