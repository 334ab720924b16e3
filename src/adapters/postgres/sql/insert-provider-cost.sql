-- What a provider charged the platform. Guard: once per business key; a repeat answers no row.
INSERT INTO provider_costs (
  id, provider_id, attempt_id, job_id, source, amount, currency, rate_micros, business_key, created_at
)
VALUES (
  :costId, :providerId, :attemptId, :jobId, :source, :amount, :currency, :rateMicros, :businessKey, :now
)
ON CONFLICT (business_key) DO NOTHING
RETURNING id
