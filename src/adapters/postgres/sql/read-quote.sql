-- One quote by its id.
SELECT id, tenant_id, request_hash, model, price_micros, facts, tier, expires_at FROM quotes WHERE id = :quoteId
