-- What a provider charged the platform. Guard: once per business key. Where another transaction took the key after this
-- statement began, its row is not visible yet, and no row is answered: then the statement must be run again.
WITH inserted AS (
  INSERT INTO provider_costs (
    id, provider_id, attempt_id, job_id, source, amount, currency, rate_micros, business_key, created_at
  )
  VALUES (
    :costId, :providerId, :attemptId, :jobId, :source, :amount, :currency, :rateMicros, :businessKey, :now
  )
  ON CONFLICT (business_key) DO NOTHING
  RETURNING id
)
SELECT 'CREATED' AS outcome FROM inserted
UNION ALL
SELECT CASE WHEN amount = :amount::numeric AND currency = :currency THEN 'REPLAY' ELSE 'CONFLICT' END
FROM provider_costs
WHERE business_key = :businessKey
