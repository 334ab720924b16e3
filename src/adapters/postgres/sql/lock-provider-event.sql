-- One provider event by its id.
SELECT * FROM provider_events WHERE id = :id
FOR NO KEY UPDATE
