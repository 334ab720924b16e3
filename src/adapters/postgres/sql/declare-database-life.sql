-- A person says that this database was restored: what the server itself does not tell, as after a snapshot of its disk. Guard:
-- one row for each life; two at once are one.
INSERT INTO database_lives (life_no, identity, began_at, restored, declared_by)
SELECT latest.life_no + 1, latest.identity, :now::timestamptz, true, :declaredBy
FROM (SELECT life_no, identity FROM database_lives ORDER BY life_no DESC LIMIT 1) AS latest
ON CONFLICT (life_no) DO NOTHING
RETURNING life_no
