-- The derivatives of an asset that are of the given kinds, in the order of making.
SELECT * FROM assets WHERE parent_asset_id = :parentAssetId AND kind = ANY (:kinds::text[]) ORDER BY created_at, id
