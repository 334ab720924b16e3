-- Items that an earlier invoice of the provider brought.
SELECT item_key FROM provider_invoice_items
WHERE provider_id = :providerId AND item_key = ANY (:keys::text[]) AND cause <> 'ITEM_SEEN_BEFORE'
