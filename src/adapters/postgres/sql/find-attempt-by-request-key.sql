-- The attempt that sent a request key to a provider.
SELECT * FROM task_attempts WHERE provider_id = :providerId AND request_key = :requestKey
