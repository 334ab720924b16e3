-- A sign of life. Guard: nobody has declared this life over; no row then.
UPDATE worker_instances SET seen_at = :now
WHERE boot_id = :bootId AND stopped_at IS NULL
RETURNING boot_id
