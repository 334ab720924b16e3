-- Display only. Guard: never lowers, and never touches a generation that has ended.
UPDATE generation_tasks SET progress = :progress
WHERE id = :taskId AND progress < :progress AND finished_at IS NULL
RETURNING id
