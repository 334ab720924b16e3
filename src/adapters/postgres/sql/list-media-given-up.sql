-- Generations whose output cannot be made playable and that have waited for a person since `before`.
SELECT id FROM generation_tasks
WHERE finished_at IS NULL AND status = 'POST_PROCESSING' AND needs_operator AND updated_at < :before
ORDER BY updated_at
LIMIT :limit
