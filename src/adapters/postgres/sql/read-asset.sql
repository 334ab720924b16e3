-- One asset by its id.
SELECT * FROM assets WHERE id = :assetId
