-- Assets by their ids; unknown ids are missing from the answer.
SELECT * FROM assets WHERE id = ANY (:assetIds::uuid[]) ORDER BY id
