-- `patch-attempt` for several. Guard, for each: its row still has the version that was read; of one that has not, no row is
-- answered.
UPDATE task_attempts t
SET status = coalesce(step.to_status, t.status), version = t.version + 1, updated_at = step.now, (
  job_id, provider_status, progress, provider_updated_at, outputs, output_url_expires_at, error_class, error_code,
  answer_digest, cost_amount, cost_currency, lease_owner, lease_until, slot_token, next_poll_at, poll_tries,
  poll_errors, cancel_status, cancel_tries, reconcile_tries, absent_since, watched_until, sent_at, accepted_at,
  completed_at, empty_success_at
) = (
  SELECT p.job_id, p.provider_status, p.progress, p.provider_updated_at, p.outputs, p.output_url_expires_at,
    p.error_class, p.error_code, p.answer_digest, p.cost_amount, p.cost_currency, p.lease_owner, p.lease_until,
    p.slot_token, p.next_poll_at, p.poll_tries, p.poll_errors, p.cancel_status, p.cancel_tries, p.reconcile_tries,
    p.absent_since, p.watched_until, p.sent_at, p.accepted_at, p.completed_at, p.empty_success_at
  FROM jsonb_populate_record(t, step.patch) AS p
)
FROM unnest(:attemptId::uuid[], :version::integer[], :toStatus::text[], :patch::jsonb[], :now::timestamptz[])
  AS step (attempt_id, version, to_status, patch, now)
WHERE t.id = step.attempt_id AND t.version = step.version AND t.id = ANY (:attemptId::uuid[])
RETURNING t.*
