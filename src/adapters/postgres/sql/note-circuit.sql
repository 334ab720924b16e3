-- Notes an account's failures in a row and until when submits are off. Whatever it came to, the probe is over.
UPDATE provider_accounts
SET circuit_failures = :failures, circuit_open_until = :openUntil, circuit_probe_until = NULL, updated_at = :now
WHERE id = :accountId
