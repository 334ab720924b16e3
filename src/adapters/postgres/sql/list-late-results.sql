-- Results that came after the end of their generation: the attempt, what it cost, and of the output only a digest of its
-- address without the signature.
SELECT a.task_id, a.tenant_id, a.id AS attempt_id, f.first_seen_at AS seen_at, a.cost_amount::text AS cost_amount,
  a.cost_currency,
  encode(sha256(convert_to(split_part(a.outputs -> 0 ->> 'url', '?', 1), 'UTF8')), 'hex') AS output_url_sha256
FROM task_attempts a
JOIN findings f ON f.subject_kind = 'attempt' AND f.subject_id = a.id::text AND f.kind = 'LATE_RESULT'
WHERE a.task_id = ANY (:taskIds::uuid[]) AND a.tenant_id = :tenantId::uuid
ORDER BY f.first_seen_at, a.id
