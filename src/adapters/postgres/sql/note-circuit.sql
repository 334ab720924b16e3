-- Notes an account's failures in a row and until when submits are off.
UPDATE provider_accounts SET circuit_failures = :failures, circuit_open_until = :openUntil, updated_at = :now
WHERE id = :accountId
