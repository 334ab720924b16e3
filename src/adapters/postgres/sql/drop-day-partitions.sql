-- Drops the partitions of days that ended before `before`; answers how many were dropped.
SELECT drop_day_partitions(:before::timestamptz) AS dropped
