-- An invoice by the digest of its file.
SELECT * FROM provider_invoices WHERE provider_id = :providerId AND digest = :digest
