-- Attempts that the lines of an invoice name: by job, or by the key that we gave the provider to echo.
SELECT id, task_id, tenant_id, status, job_id, request_key, cost_amount, cost_currency FROM task_attempts
WHERE provider_id = :providerId AND job_id = ANY (:jobIds::text[])
UNION
SELECT id, task_id, tenant_id, status, job_id, request_key, cost_amount, cost_currency FROM task_attempts
WHERE provider_id = :providerId AND request_key = ANY (:references::text[])
