-- What was asked of the platform since a time, and how long it took, for the reckoning of capacity. Ids begin with their time, so
-- the keys' indexes bound every look; a figure is null while nothing has happened that it could be read from.
WITH made AS MATERIALIZED (
  SELECT id, tenant_id, status FROM generation_tasks WHERE id >= uuid7_floor(:since) AND id < uuid7_floor(:now)
), ended AS (
  SELECT extract(epoch FROM completed_at - created_at) AS held_s, status
  FROM task_attempts
  WHERE id >= uuid7_floor(:since) AND job_id IS NOT NULL AND completed_at IS NOT NULL
), outputs AS (
  SELECT avg(assets.size_bytes) AS size_bytes
  FROM made JOIN assets ON assets.task_id = made.id
  WHERE assets.kind = 'RAW_OUTPUT'
), media AS (
  SELECT extract(epoch FROM max(observed_at) FILTER (WHERE to_status <> 'POST_PROCESSING')
    - min(observed_at) FILTER (WHERE to_status = 'POST_PROCESSING')) AS took_s
  FROM made JOIN task_state_events AS event ON event.task_id = made.id
    AND event.event_id >= uuid7_floor(:since) AND 'POST_PROCESSING' IN (event.from_status, event.to_status)
  WHERE made.status = 'SUCCEEDED'
  GROUP BY made.id
), transitions AS (
  SELECT count(*) AS count
  FROM task_state_events
  WHERE event_id >= uuid7_floor(:since) AND event_id < uuid7_floor(:now) AND ignored_reason IS NULL
), shares AS (
  SELECT made.tenant_id, count(*) AS created
  FROM made GROUP BY made.tenant_id ORDER BY created DESC LIMIT :tenantsMax
)
SELECT
  (SELECT count(*) FROM made)::integer AS created,
  (SELECT avg(held_s) FROM ended)::float8 AS held_s,
  (SELECT count(*) FILTER (WHERE status = 'SUCCEEDED')::float8 / nullif(count(*), 0) FROM ended) AS success_share,
  (SELECT size_bytes FROM outputs)::float8 AS output_size_bytes,
  (SELECT avg(took_s) FROM media)::float8 AS media_s,
  (SELECT count FROM transitions)::integer AS transitions,
  (SELECT count(*) FROM generation_tasks WHERE schedule_at <= :now)::integer AS waiting,
  (SELECT coalesce(sum(concurrent_max), 0) FROM provider_accounts WHERE status = 'ACTIVE')::integer AS slots,
  (SELECT coalesce(jsonb_agg(jsonb_build_object(
     'name', tenants.name || ' ' || left(tenants.id::text, 8), 'share', shares.created,
     'inFlightMax', tenants.in_flight_max) ORDER BY shares.created DESC), '[]')
   FROM shares JOIN tenants ON tenants.id = shares.tenant_id) AS tenants
