-- Creates attempt `attemptNo` of a generation, unless there is one: then no row is answered.
INSERT INTO task_attempts (
  id, tenant_id, task_id, attempt_no, provider_id, account_id, model, request_key, status, version, sent,
  callback_url, slot_token, created_at, updated_at
)
VALUES (
  :attemptId, :tenantId, :taskId, :attemptNo, :providerId, :accountId, :model, :requestKey, 'NEW', 1, :sent,
  :callbackUrl, :slotToken, :now, :now
)
ON CONFLICT (task_id, attempt_no) DO NOTHING
RETURNING id
