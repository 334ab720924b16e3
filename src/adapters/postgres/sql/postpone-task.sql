-- Puts a waiting generation back. Guard: it still waits for the scheduler.
UPDATE generation_tasks SET schedule_at = :until, wait_reason = :reason
WHERE id = :taskId AND schedule_at IS NOT NULL
