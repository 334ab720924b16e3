-- When the earliest poll is due; null when none waits.
SELECT min(next_poll_at) AS at FROM task_attempts WHERE next_poll_at IS NOT NULL
