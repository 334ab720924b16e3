-- Makes the hold on an attempt's step last until `until`. Guard: one that lasts longer stays.
UPDATE task_attempts SET lease_until = :until, version = version + 1, updated_at = :now
WHERE id = :attemptId AND (lease_until IS NULL OR lease_until < :until)
