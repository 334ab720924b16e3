-- Everything a generation put out, in the order of making.
SELECT * FROM assets WHERE task_id = :taskId ORDER BY created_at, id
