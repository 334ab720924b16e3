-- Everything that is known of one generation, as one list in the order of time; of two at the same time the cause comes
-- first. What must not leave is never chosen: no prompt, no URL, no answer of a provider, only their digests. Of more than
-- `limit` entries the latest.
WITH task AS (
  SELECT * FROM generation_tasks WHERE id = :taskId::uuid AND tenant_id = :tenantId::uuid
), attempt AS (
  SELECT a.* FROM task_attempts a JOIN task ON a.task_id = task.id
), made AS (
  SELECT s.* FROM assets s JOIN task ON s.task_id = task.id AND s.tenant_id = task.tenant_id
), subject AS (
  SELECT id, id AS attempt_id FROM attempt
  UNION ALL SELECT id, NULL FROM task
  UNION ALL SELECT id, attempt_id FROM made
), entries AS (
  SELECT task.created_at AS at, 0 AS rank, 'API_CALL' AS kind, 'api' AS source, 'generationCreate' AS what,
    NULL::uuid AS attempt_id, 'api_key:' || task.api_key_id AS actor, task.id::text AS ref,
    jsonb_build_object('apiKeyId', task.api_key_id, 'apiKeyName', k.name, 'apiKeyPrefix', k.prefix,
      'idempotencyKey', task.client_idempotency_key, 'traceId', task.trace_id, 'model', task.requested_model,
      'priceMicros', task.price_micros::text, 'quoteId', task.quote_id) AS facts
  FROM task LEFT JOIN api_keys k ON k.id = task.api_key_id AND k.tenant_id = task.tenant_id
  UNION ALL
  SELECT e.observed_at, 2, CASE WHEN e.ignored_reason IS NULL THEN 'TRANSITION' ELSE 'IGNORED' END, e.source, e.type,
    e.attempt_id, NULL, e.event_id::text,
    jsonb_build_object('from', e.from_status, 'to', e.to_status, 'version', e.task_version, 'reason', e.ignored_reason,
      'providerAt', e.provider_updated_at, 'phase', e.payload ->> 'phase', 'code', e.payload ->> 'code',
      'failure', e.payload ->> 'failure', 'answer', e.payload ->> 'answer', 'outcome', e.payload ->> 'outcome',
      'providerStatus', e.payload ->> 'status', 'digest', e.payload ->> 'digest')
  FROM task_state_events e JOIN task ON e.task_id = task.id AND e.tenant_id = task.tenant_id
  UNION ALL
  SELECT step.at, step.rank, 'ATTEMPT', step.source, step.what, a.id, NULL, a.id::text || step.what, step.facts
  FROM attempt a
  CROSS JOIN LATERAL (VALUES
    (a.created_at, 3, 'scheduler', 'written', jsonb_build_object(
      'number', a.attempt_no, 'provider', a.provider_id, 'account', a.account_id, 'model', a.model,
      'promptSha256', encode(sha256(convert_to(a.sent ->> 'prompt', 'UTF8')), 'hex'),
      'negativePromptSha256', encode(sha256(convert_to(a.sent ->> 'negativePrompt', 'UTF8')), 'hex'),
      'optionsSha256', encode(sha256(convert_to(a.sent ->> 'options', 'UTF8')), 'hex'),
      'imageSha256', a.sent ->> 'imageSha256', 'seed', a.sent ->> 'seed', 'aspectRatio', a.sent ->> 'aspectRatio',
      'resolution', a.sent ->> 'resolution', 'durationMs', a.sent ->> 'durationMs', 'withAudio', a.sent ->> 'withAudio',
      'priceMicros', a.sent ->> 'priceMicros')),
    (a.sent_at, 0, 'worker', 'sent', jsonb_build_object('number', a.attempt_no)),
    (a.accepted_at, 1, 'worker', 'accepted', jsonb_build_object(
      'number', a.attempt_no, 'jobId', a.job_id, 'answerDigest', a.answer_digest)),
    (a.completed_at, 1, 'worker', 'ended', jsonb_build_object(
      'number', a.attempt_no, 'status', a.status, 'errorClass', a.error_class, 'errorCode', a.error_code,
      'costAmount', a.cost_amount::text, 'costCurrency', a.cost_currency,
      'outputUrlSha256', encode(sha256(convert_to(split_part(a.outputs -> 0 ->> 'url', '?', 1), 'UTF8')), 'hex')))
  ) AS step (at, rank, source, what, facts)
  WHERE step.at IS NOT NULL
  UNION ALL
  SELECT e.received_at, 1, CASE WHEN e.source = 'callback' THEN 'CALLBACK' ELSE 'PROVIDER_ANSWER' END, e.source,
    CASE WHEN e.source <> 'callback' THEN lower(e.status) WHEN e.attempt_id IS NULL THEN 'orphan' ELSE 'accepted' END,
    a.id, NULL, e.id::text,
    jsonb_build_object('status', e.status, 'providerStatus', e.raw_status, 'jobId', e.job_id, 'digest', e.raw_digest,
      'outcome', e.outcome, 'duplicates', e.duplicates, 'providerAt', e.provider_updated_at,
      'failure', e.observation #>> '{failure,kind}', 'code', e.observation #>> '{failure,code}',
      'chargeAmount', e.observation #>> '{charge,amount}', 'chargeCurrency', e.observation #>> '{charge,currency}',
      'outputs', jsonb_array_length(coalesce(e.observation -> 'outputs', '[]')))
  FROM attempt a JOIN provider_events e ON e.attempt_id = a.id
  UNION ALL
  SELECT r.first_at, 1, 'CALLBACK', 'callback', 'refused', a.id, NULL, a.id::text || r.reason,
    jsonb_build_object('reason', r.reason, 'refusals', r.refusals, 'lastAt', r.last_at)
  FROM attempt a JOIN callback_refusals r ON r.provider_id = a.provider_id AND r.request_key = a.request_key
  UNION ALL
  SELECT l.created_at, 4, 'LEDGER', 'ledger', l.kind, l.attempt_id, l.actor, l.id::text,
    jsonb_build_object('amountMicros', l.amount_micros::text, 'availableDelta', l.available_delta::text,
      'heldDelta', l.held_delta::text, 'reason', l.reason)
  FROM credit_ledger l JOIN task ON l.task_id = task.id AND l.tenant_id = task.tenant_id
  UNION ALL
  SELECT d.created_at, 1, 'MODERATION', 'moderation', lower(d.verdict), subject.attempt_id, d.decided_by, d.id::text,
    jsonb_build_object('subject', d.subject_kind, 'verdict', d.verdict, 'reason', d.reason_code,
      'rulesVersion', d.rules_version)
  FROM subject JOIN moderation_decisions d
    ON d.subject_kind IN ('PROMPT', 'OUTPUT', 'ASSET') AND d.subject_id = subject.id::text
  UNION ALL
  SELECT m.created_at, 5, 'MEDIA', 'media', lower(m.kind), m.attempt_id, NULL, m.id::text,
    jsonb_build_object('assetId', m.id, 'status', m.status, 'changedAt', m.updated_at, 'sizeBytes', m.size_bytes::text,
      'sha256', m.sha256, 'rejection', m.rejection_code)
  FROM made m
  UNION ALL
  SELECT f.first_seen_at, 6, 'FINDING', 'findings', f.kind, subject.attempt_id, NULL, f.id::text,
    jsonb_build_object('lastSeenAt', f.last_seen_at, 'done', f.action_taken, 'resolvedAt', f.resolved_at,
      'detail', f.detail::text)
  FROM subject JOIN findings f ON f.subject_kind IN ('task', 'attempt', 'asset') AND f.subject_id = subject.id::text
  UNION ALL
  SELECT g.created_at, 1, 'OPERATOR', 'operator', g.action, subject.attempt_id, g.actor, g.id::text,
    jsonb_build_object('reason', g.reason, 'before', g.before::text, 'after', g.after::text)
  FROM subject JOIN audit_log g
    ON g.subject_kind IN ('generation', 'task', 'attempt', 'asset', 'hold', 'PROMPT', 'OUTPUT', 'ASSET')
    AND g.subject_id = subject.id::text
)
SELECT at, kind, source, what, attempt_id, actor, ref, facts
FROM (SELECT * FROM entries ORDER BY at DESC, rank DESC, ref DESC LIMIT :limit::integer) AS latest
ORDER BY at, rank, ref
