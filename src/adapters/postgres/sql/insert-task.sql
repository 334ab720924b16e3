-- Creates a generation with its request, inputs, history and messages, unless (tenant, idempotency key) is taken:
-- then nothing is written and no row is answered. A concurrent first insert of the same key is waited for. From here on
-- the transaction waits for no lock longer than `ledgerWait`: what follows is the ledger, whose absence is a refusal.
WITH task AS (
  INSERT INTO generation_tasks (
    id, tenant_id, project_id, api_key_id, client_idempotency_key, request_hash, quote_id, status, version,
    requested_model, priority, price_micros, reserved_micros, schedule_at, waiting_since, deadline_at, trace_id,
    created_at, updated_at
  )
  VALUES (
    :taskId, :tenantId, :projectId, :apiKeyId, :clientIdempotencyKey, :requestHash, :quoteId, :status, :version,
    :requestedModel, :priority, :priceMicros, :reservedMicros, :scheduleAt, :waitingSince, :deadlineAt, :traceId,
    :now, :now
  )
  ON CONFLICT (tenant_id, client_idempotency_key) DO NOTHING
  RETURNING id, tenant_id, version, trace_id
), request AS (
  INSERT INTO generation_requests (task_id, tenant_id, prompt, body, created_at)
  SELECT task.id, task.tenant_id, :prompt, :body::jsonb, :now::timestamptz FROM task
), inputs AS (
  INSERT INTO generation_inputs (task_id, asset_id, role, position)
  SELECT task.id, input.asset_id, input.role, input.position
  FROM task, jsonb_to_recordset(:inputs::jsonb) AS input (asset_id uuid, role text, position smallint)
), history AS (
  INSERT INTO task_state_events (
    event_id, task_id, tenant_id, source, type, from_status, to_status, task_version, observed_at, trace_id
  )
  SELECT step.event_id, task.id, task.tenant_id, 'api', step.type, step.from_status, step.to_status,
    step.task_version, :now::timestamptz, task.trace_id
  FROM task, jsonb_to_recordset(:path::jsonb)
    AS step (event_id uuid, type text, from_status text, to_status text, task_version integer)
), sent AS (
  INSERT INTO outbox_events (
    id, aggregate_type, aggregate_id, aggregate_version, type, schema_version, tenant_id, trace_id, causation_id,
    payload, status, available_at, occurred_at
  )
  SELECT message.event_id, 'generation', task.id, task.version, message.type, 1, task.tenant_id, task.trace_id,
    :causationId, message.payload, 'PENDING', message.available_at, :now::timestamptz
  FROM task, jsonb_to_recordset(:messages::jsonb)
    AS message (event_id uuid, type text, payload jsonb, available_at timestamptz)
)
SELECT id, set_config('lock_timeout', :ledgerWait, true) AS ledger_wait FROM task
