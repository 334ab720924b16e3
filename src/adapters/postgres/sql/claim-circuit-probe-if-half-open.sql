-- Takes the one submit that tries whether an account works again. Guard: its circuit was open, its time is over, and nobody
-- else is trying; otherwise no row is answered. A circuit that closed meanwhile lets everybody pass.
UPDATE provider_accounts
SET circuit_probe_until = CASE WHEN circuit_open_until IS NULL THEN circuit_probe_until ELSE :until::timestamptz END
WHERE id = :accountId
  AND (circuit_open_until IS NULL
    OR circuit_open_until <= :now AND (circuit_probe_until IS NULL OR circuit_probe_until <= :now))
RETURNING id
