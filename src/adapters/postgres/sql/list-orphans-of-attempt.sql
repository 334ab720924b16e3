-- Unmatched events of a job or of a request key, in the order of arrival.
SELECT * FROM provider_events
WHERE attempt_id IS NULL AND provider_id = :providerId AND (job_id = :jobId OR request_key = :requestKey)
ORDER BY received_at, id
