-- What waits, and for how long, in one look over what is alive; the names are those of the metrics. Provider figures come with
-- each provider, the others once, also when nothing waits.
WITH live AS MATERIALIZED (
  SELECT id, status, coalesce(waiting_since, created_at) AS since FROM generation_tasks WHERE finished_at IS NULL
), flying AS MATERIALIZED (
  SELECT provider_id, status FROM task_attempts WHERE completed_at IS NULL
), waiting AS (
  SELECT count(*) AS depth,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM :now::timestamptz - since)) AS age_p95
  FROM live WHERE status = 'QUEUED'
), open_findings AS (
  SELECT kind, count(*) AS amount FROM findings WHERE resolved_at IS NULL GROUP BY kind
)
SELECT 'aivedio_queue_depth' AS name, NULL AS label, depth::float8 AS value FROM waiting
UNION ALL
SELECT 'aivedio_queue_age_p95_seconds', NULL, greatest(coalesce(age_p95, 0), 0)::float8 FROM waiting
UNION ALL
SELECT 'aivedio_output_fetch_backlog', NULL, count(*)::float8 FROM live WHERE status = 'OUTPUT_FETCHING'
UNION ALL
SELECT 'aivedio_media_backlog', NULL, count(*)::float8 FROM live WHERE status = 'POST_PROCESSING'
UNION ALL
SELECT 'aivedio_output_url_expiry_risk', NULL, count(*)::float8
FROM live JOIN task_attempts ON task_attempts.task_id = live.id
WHERE live.status = 'OUTPUT_FETCHING' AND output_url_expires_at <= :now::timestamptz + interval '15 minutes'
UNION ALL
SELECT 'aivedio_provider_active_jobs', providers.id, (
  SELECT count(*) FROM flying
  WHERE provider_id = providers.id AND status IN ('SENDING', 'UNKNOWN', 'ACKED', 'RUNNING')
)::float8 FROM providers
UNION ALL
SELECT 'aivedio_submit_unknown_count', providers.id, (
  SELECT count(*) FROM flying WHERE provider_id = providers.id AND status = 'UNKNOWN'
)::float8 FROM providers
UNION ALL
SELECT 'aivedio_provider_jobs_limit', provider_id, sum(concurrent_max)::float8
FROM provider_accounts WHERE status = 'ACTIVE' GROUP BY provider_id
UNION ALL
SELECT 'aivedio_outbox_oldest_age_seconds', NULL,
  greatest(coalesce(extract(epoch FROM :now::timestamptz - min(since)), 0), 0)::float8
FROM (
  SELECT CASE WHEN last_error IS NULL THEN available_at ELSE occurred_at END AS since
  FROM outbox_events
  WHERE status = 'PENDING' AND (available_at <= :now OR last_error IS NOT NULL)
    AND type = ANY (:types::text[])
  ORDER BY available_at, id LIMIT 1000
) AS pending
UNION ALL
SELECT 'aivedio_outbox_unknown_messages', NULL, count(*)::float8
FROM outbox_events WHERE status = 'PENDING' AND type <> ALL (:types::text[])
UNION ALL
SELECT 'aivedio_mq_consumer_lag', consumer_group, count(*)::float8
FROM bus_messages WHERE status = 'READY' AND available_at <= :now GROUP BY consumer_group
UNION ALL
SELECT 'aivedio_orphan_object_count', NULL,
  coalesce((SELECT amount FROM open_findings WHERE kind = 'ORPHAN_OBJECT'), 0)::float8
UNION ALL
SELECT 'aivedio_open_findings', kind, amount::float8 FROM open_findings
UNION ALL
SELECT 'aivedio_reserved_credit_age_seconds', NULL,
  greatest(coalesce(extract(epoch FROM :now::timestamptz - min(opened_at)), 0), 0)::float8
FROM holds WHERE status = 'OPEN'
