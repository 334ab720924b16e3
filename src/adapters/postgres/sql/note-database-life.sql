-- Answers when this database was last restored, or taken over by a standby; null: never. Server, timeline, database and table
-- together are another thing after any of it, and the first to notice writes that down. A second one that notices meanwhile
-- answers the same, though it cannot see that row yet.
WITH present AS (
  SELECT concat_ws(':',
    (SELECT system_identifier FROM pg_control_system()),
    substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
    (SELECT oid FROM pg_database WHERE datname = current_database()),
    'database_lives'::regclass::oid
  ) AS identity
),
latest AS (
  SELECT life_no, identity FROM database_lives ORDER BY life_no DESC LIMIT 1
),
begun AS (
  INSERT INTO database_lives (life_no, identity, began_at, restored)
  SELECT COALESCE(latest.life_no, 0) + 1, present.identity, :now::timestamptz, latest.life_no IS NOT NULL
  FROM present LEFT JOIN latest ON true
  WHERE latest.identity IS DISTINCT FROM present.identity
  ON CONFLICT (life_no) DO NOTHING
)
SELECT CASE
    WHEN (SELECT latest.identity <> present.identity FROM latest, present) THEN :now::timestamptz
    ELSE (SELECT max(began_at) FROM database_lives WHERE restored)
  END AS restored_at
