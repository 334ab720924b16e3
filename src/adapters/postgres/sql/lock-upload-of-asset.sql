-- The upload of an asset, locked until the transaction ends.
SELECT * FROM upload_sessions WHERE asset_id = :assetId FOR NO KEY UPDATE
