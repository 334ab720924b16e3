-- A tenant's living generations: those that wait for a submit, and those that are past it.
SELECT count(*) FILTER (WHERE waits)::integer AS queued, count(*) FILTER (WHERE NOT waits)::integer AS in_flight
FROM (
  SELECT status IN ('CREATED', 'VALIDATING', 'QUOTA_RESERVED', 'QUEUED', 'RETRY_WAIT') AS waits
  FROM generation_tasks
  WHERE tenant_id = :tenantId AND finished_at IS NULL
) AS live
