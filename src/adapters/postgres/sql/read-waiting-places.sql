-- Places among all generations that wait for admission; only the first `scanned` have one.
WITH waiting AS (
  SELECT id, tenant_id, row_number() OVER (ORDER BY priority DESC, coalesce(waiting_since, created_at), id) AS place
  FROM (
    SELECT id, tenant_id, priority, waiting_since, created_at
    FROM generation_tasks
    WHERE schedule_at IS NOT NULL
    ORDER BY schedule_at
    LIMIT :scanned::integer
  ) AS first
)
SELECT id AS task_id, place::integer AS position
FROM waiting
WHERE tenant_id = :tenantId::uuid AND id = ANY (:taskIds::uuid[])
