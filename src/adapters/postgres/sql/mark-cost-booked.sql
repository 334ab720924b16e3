-- Notes that an attempt's cost was brought to the books. The version stays: nobody judges by it.
UPDATE task_attempts SET cost_booked_at = :now WHERE id = :attemptId AND cost_booked_at IS NULL
