-- The upload of an asset, as it is now.
SELECT * FROM upload_sessions WHERE asset_id = :assetId
