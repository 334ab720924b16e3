-- How long the oldest transaction that has written is open, by the server's own clock, and whose it is; no row when there is
-- none. What it wrote for the outbox nobody can publish yet.
SELECT other.application_name AS name,
  floor(extract(epoch FROM own.xact_start - other.xact_start) * 1000)::int AS open_ms
FROM pg_stat_activity AS own, pg_stat_activity AS other
WHERE own.pid = pg_backend_pid() AND other.datname = current_database() AND other.backend_xid IS NOT NULL
  AND other.pid <> own.pid AND other.xact_start IS NOT NULL
ORDER BY other.xact_start
LIMIT 1
