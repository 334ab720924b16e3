-- One transition: row, history and messages. Guard: the row still has the status and the version that were judged;
-- otherwise nothing is written and no row is answered. Columns that the patch does not name keep their values.
WITH moved AS (
  UPDATE generation_tasks t
  SET status = :toStatus, version = t.version + 1, updated_at = :now, (
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
    FROM jsonb_populate_record(t, :patch::jsonb) AS p
  )
  WHERE t.id = :taskId AND t.version = :version AND t.status = :fromStatus
  RETURNING t.*
), history AS (
  INSERT INTO task_state_events (
    event_id, task_id, tenant_id, attempt_id, source, source_event_id, type, from_status, to_status, task_version,
    provider_updated_at, observed_at, payload, trace_id
  )
  SELECT :eventId::uuid, moved.id, moved.tenant_id, :attemptId::uuid, :source, :sourceEventId, :type, :fromStatus,
    moved.status, moved.version, :providerUpdatedAt::timestamptz, :now::timestamptz, :payload::jsonb, moved.trace_id
  FROM moved
), sent AS (
  INSERT INTO outbox_events (
    id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, tenant_id, trace_id, causation_id,
    payload, status, available_at, occurred_at
  )
  SELECT message.event_id, 'generation', moved.id, moved.version, message.type, 1, moved.tenant_id, moved.trace_id,
    :eventId::uuid::text, message.payload, 'PENDING', message.available_at, :now::timestamptz
  FROM moved, jsonb_to_recordset(:messages::jsonb)
    AS message (event_id uuid, type text, payload jsonb, available_at timestamptz)
)
SELECT * FROM moved
