-- A provider, locked until the transaction ends: its invoices are imported one by one.
SELECT id FROM providers WHERE id = :providerId FOR NO KEY UPDATE
