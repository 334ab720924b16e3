-- The asset that owns a business key.
SELECT * FROM assets WHERE business_key = :businessKey
