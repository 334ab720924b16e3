-- An account that its provider throttles takes fewer jobs for a while; an account whose circuit opened is tried with one
-- submit before the others follow.

ALTER TABLE provider_accounts
  ADD COLUMN throttled_max integer,
  ADD COLUMN throttled_at timestamptz(3),
  ADD COLUMN throttled_until timestamptz(3),
  ADD COLUMN circuit_probe_until timestamptz(3),
  ADD CONSTRAINT provider_accounts_throttled_max_check CHECK (throttled_max >= 1);
