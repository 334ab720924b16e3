-- Lives that nobody asks about any more: not seen since `before`, whether they said goodbye or not.
WITH forgotten AS (
  DELETE FROM worker_instances WHERE seen_at < :before RETURNING 1
)
SELECT count(*)::int AS forgotten FROM forgotten
