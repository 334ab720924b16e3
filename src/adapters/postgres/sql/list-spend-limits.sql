-- The limits of a tenant and its keys, with what is spent of each in the present month or ever.
SELECT api_key_id, period, limit_micros, CASE
    WHEN period = 'TOTAL' OR period_start = date_trunc('month', :now::timestamptz AT TIME ZONE 'UTC')::date
    THEN spent_micros ELSE 0
  END AS spent_micros
FROM spend_limits
WHERE tenant_id = :tenantId
ORDER BY id
