-- `move-task` for several generations. Guard, for each: its row still has the status and the version that were judged; of one
-- that has not, nothing is written and no row is answered.
WITH step AS MATERIALIZED (
  SELECT *
  FROM unnest(
    :taskId::uuid[], :version::integer[], :fromStatus::text[], :toStatus::text[], :patch::jsonb[], :messages::jsonb[],
    :eventId::uuid[], :attemptId::uuid[], :source::text[], :sourceEventId::text[], :type::text[],
    :providerUpdatedAt::timestamptz[], :payload::jsonb[], :now::timestamptz[]
  ) AS s (
    task_id, version, from_status, to_status, patch, messages, event_id, attempt_id, source, source_event_id, type,
    provider_updated_at, payload, now
  )
), moved AS (
  UPDATE generation_tasks t
  SET status = step.to_status, version = t.version + 1, updated_at = step.now, (
    progress, selected_provider, selected_account, current_attempt_no, reserved_micros, settled_micros,
    output_asset_id, raw_generation, schedule_at, wait_reason, waiting_since, submit_tries, fetch_tries, media_tries,
    step_started_at, next_retry_at, recovery_deadline_at, cancel_requested_at, cancel_reason, cancel_outcome,
    last_error_class, last_error_code, needs_operator, started_at, finished_at
  ) = (
    SELECT p.progress, p.selected_provider, p.selected_account, p.current_attempt_no, p.reserved_micros,
      p.settled_micros, p.output_asset_id, p.raw_generation, p.schedule_at, p.wait_reason, p.waiting_since,
      p.submit_tries, p.fetch_tries, p.media_tries, p.step_started_at, p.next_retry_at, p.recovery_deadline_at,
      p.cancel_requested_at, p.cancel_reason, p.cancel_outcome, p.last_error_class, p.last_error_code,
      p.needs_operator, p.started_at, p.finished_at
    FROM jsonb_populate_record(t, step.patch) AS p
  )
  FROM step
  WHERE t.id = step.task_id AND t.version = step.version AND t.status = step.from_status
    AND t.id = ANY (:taskId::uuid[])
  RETURNING t.*
), history AS (
  INSERT INTO task_state_events (
    event_id, task_id, tenant_id, attempt_id, source, source_event_id, type, from_status, to_status, task_version,
    provider_updated_at, observed_at, payload, trace_id
  )
  SELECT step.event_id, moved.id, moved.tenant_id, step.attempt_id, step.source, step.source_event_id, step.type,
    step.from_status, moved.status, moved.version, step.provider_updated_at, step.now, step.payload, moved.trace_id
  FROM moved JOIN step ON step.task_id = moved.id
), sent AS (
  INSERT INTO outbox_events (
    id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, tenant_id, trace_id, causation_id,
    payload, status, available_at, occurred_at
  )
  SELECT message.event_id, 'generation', moved.id, moved.version, message.type, 1, moved.tenant_id, moved.trace_id,
    step.event_id::text, message.payload, 'PENDING', message.available_at, step.now
  FROM moved JOIN step ON step.task_id = moved.id
  CROSS JOIN LATERAL jsonb_to_recordset(step.messages)
    AS message (event_id uuid, type text, payload jsonb, available_at timestamptz)
)
SELECT * FROM moved
