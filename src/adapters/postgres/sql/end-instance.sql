-- An orderly end: the process holds nothing any more.
UPDATE worker_instances SET stopped_at = :now, seen_at = :now
WHERE boot_id = :bootId AND stopped_at IS NULL
