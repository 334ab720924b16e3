-- The catalogue. A model of a provider that is paused is paused.
SELECT m.*, CASE WHEN m.status = 'ACTIVE' THEN p.status ELSE m.status END AS offer_status
FROM provider_models m JOIN providers p ON p.id = m.provider_id
ORDER BY m.id
