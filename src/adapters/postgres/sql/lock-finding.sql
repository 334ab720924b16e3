-- One finding, locked.
SELECT * FROM findings WHERE id = :findingId FOR NO KEY UPDATE
