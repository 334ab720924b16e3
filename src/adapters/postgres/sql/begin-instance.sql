-- Enters a process that has just started. Guard: a name has one life at a time, so that every earlier life of the same
-- worker on the same node is over. Answers how many of them had not said so themselves.
WITH dead AS (
  UPDATE worker_instances SET stopped_at = :now
  WHERE worker = :worker AND node = :node AND boot_id <> :bootId AND stopped_at IS NULL
  RETURNING 1
), begun AS (
  INSERT INTO worker_instances (boot_id, worker, node, started_at, seen_at)
  VALUES (:bootId, :worker, :node, :now, :now)
  ON CONFLICT (boot_id) DO NOTHING
)
SELECT count(*)::int AS ended FROM dead
