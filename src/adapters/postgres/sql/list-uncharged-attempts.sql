-- Attempts of a provider that ended in a period, whose charge is booked, and that no invoice lists or was found to miss.
SELECT a.id, a.task_id, a.tenant_id, a.status, a.job_id, a.request_key, a.cost_amount, a.cost_currency
FROM task_attempts a
WHERE a.provider_id = :providerId AND a.completed_at >= :start AND a.completed_at < :end AND a.cost_amount > 0
  AND NOT EXISTS (SELECT 1 FROM provider_invoice_items i WHERE i.attempt_id = a.id)
ORDER BY a.id
LIMIT :limit
