-- One asset, locked until the transaction ends.
SELECT * FROM assets WHERE id = :assetId FOR NO KEY UPDATE
