-- One account at a provider. An account of a provider that is paused is paused.
SELECT a.id, a.provider_id, CASE WHEN a.status = 'ACTIVE' THEN p.status ELSE a.status END AS status, a.concurrent_max,
  a.circuit_open_until, a.circuit_probe_until, a.throttled_max, a.throttled_until, a.base_url, a.secret_ref,
  a.circuit_failures
FROM provider_accounts a JOIN providers p ON p.id = a.provider_id
WHERE a.id = :accountId
