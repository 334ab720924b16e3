SELECT id, status, version, current_attempt_no, created_at
FROM generation_tasks
WHERE id > :after::uuid
ORDER BY id
LIMIT :limit::int
