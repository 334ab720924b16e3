SELECT a.id AS subject,
  format('is bound to %s, which the provider %s', a.job_id,
    CASE WHEN e.id IS NULL THEN 'does not have' ELSE 'made for ' || coalesce(e.reference, 'nobody') END) AS detail
FROM task_attempts a
LEFT JOIN evidence e ON e.kind = 'job' AND e.id = a.job_id
WHERE a.job_id IS NOT NULL AND a.updated_at < :settledBefore::timestamptz
  AND e.reference IS DISTINCT FROM a.request_key
ORDER BY a.id
LIMIT :limit::int
