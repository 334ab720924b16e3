-- Attempts, and jobs that belong to nobody, that an earlier invoice of the provider charged.
SELECT attempt_id::text AS subject FROM provider_invoice_items
WHERE provider_id = :providerId AND attempt_id = ANY (:attemptIds::uuid[]) AND class <> 'UNCHARGED_SUCCESS'
UNION
SELECT job_id FROM provider_invoice_items
WHERE provider_id = :providerId AND job_id = ANY (:jobIds::text[]) AND class <> 'UNCHARGED_SUCCESS'
