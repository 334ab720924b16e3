-- Makes the partitions of the coming days; answers how many were made.
SELECT ensure_day_partitions(:now::timestamptz, :days::integer) AS made
