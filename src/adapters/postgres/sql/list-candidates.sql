-- The line of due generations in fair order: priority first, then the tenant with the least in flight, its own in the
-- order of their waiting. Only the `scanned` rows that are due longest take part, so that a flood costs a bounded look.
-- Nothing else decides the order: the scheduler takes its head, and who asks for a place asks here, with `taskIds`.
WITH due AS (
  SELECT id, tenant_id, status, requested_model, priority, coalesce(waiting_since, created_at) AS since
  FROM generation_tasks
  WHERE schedule_at <= :now
  ORDER BY schedule_at
  LIMIT :scanned
), busy AS (
  SELECT tenant_id, count(*) AS in_flight
  FROM generation_tasks
  WHERE finished_at IS NULL AND status NOT IN ('CREATED', 'VALIDATING', 'QUOTA_RESERVED', 'QUEUED', 'RETRY_WAIT')
    AND EXISTS (SELECT 1 FROM due)
  GROUP BY tenant_id
), ranked AS (
  SELECT due.*, row_number() OVER (PARTITION BY tenant_id ORDER BY priority DESC, since, id) AS own_place
  FROM due
), ordered AS (
  SELECT ranked.id AS task_id, ranked.tenant_id, ranked.status, ranked.requested_model, row_number() OVER (
    ORDER BY ranked.priority DESC, coalesce(busy.in_flight, 0) + ranked.own_place, ranked.since, ranked.id
  )::integer AS position
  FROM ranked LEFT JOIN busy USING (tenant_id)
)
SELECT line.task_id, line.tenant_id, line.status, line.requested_model AS model, line.position,
  tenants.in_flight_max AS tenant_max
FROM (
  SELECT * FROM ordered
  WHERE :taskIds::uuid[] IS NULL OR task_id = ANY (:taskIds::uuid[])
  ORDER BY position LIMIT :limit
) AS line
JOIN tenants ON tenants.id = line.tenant_id
ORDER BY line.position
