-- Unmatched events whose attempt is known by now, by job or by request key, in the order of arrival.
SELECT e.* FROM provider_events e
WHERE e.attempt_id IS NULL AND (
  EXISTS (SELECT 1 FROM task_attempts a WHERE a.provider_id = e.provider_id AND a.job_id = e.job_id)
  OR EXISTS (SELECT 1 FROM task_attempts a WHERE a.provider_id = e.provider_id AND a.request_key = e.request_key)
)
ORDER BY e.received_at, e.id
LIMIT :limit
