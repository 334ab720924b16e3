-- Outputs that a person should have helped to fetch since `before`, and whose address at the provider serves no longer.
SELECT t.id FROM generation_tasks t
JOIN task_attempts a ON a.task_id = t.id AND a.attempt_no = t.current_attempt_no
WHERE t.finished_at IS NULL AND t.status = 'OUTPUT_FETCHING' AND t.needs_operator AND t.updated_at < :before
  AND (a.output_url_expires_at IS NULL OR a.output_url_expires_at <= :now)
ORDER BY t.updated_at
LIMIT :limit
