-- Halves how many jobs an account takes, until `until`. Guard: not again before `settledBefore` has passed since the last time:
-- many that were sent together are refused together, and say the same thing once.
UPDATE provider_accounts
SET throttled_max = greatest(1,
    CASE WHEN throttled_until > :now::timestamptz THEN throttled_max ELSE concurrent_max END / 2),
  throttled_at = :now, throttled_until = greatest(throttled_until, :until::timestamptz), updated_at = :now
WHERE id = :accountId AND (throttled_at IS NULL OR throttled_at <= :settledBefore)
