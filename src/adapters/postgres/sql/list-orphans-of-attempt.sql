-- Unmatched events of a job or of a request key, in the order of arrival. Found by what they are about and filtered then: the
-- index of what is unmatched also holds what was, until that can be cleaned away.
WITH told AS MATERIALIZED (
  SELECT * FROM provider_events WHERE provider_id = :providerId AND job_id = :jobId
  UNION
  SELECT * FROM provider_events WHERE provider_id = :providerId AND request_key = :requestKey
)
SELECT * FROM told WHERE attempt_id IS NULL
ORDER BY received_at, id
