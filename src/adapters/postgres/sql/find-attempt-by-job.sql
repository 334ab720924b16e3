-- The attempt that owns a provider's job.
SELECT * FROM task_attempts WHERE provider_id = :providerId AND job_id = :jobId
