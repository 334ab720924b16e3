-- Keeps a price as it was told.
INSERT INTO quotes (
  id, tenant_id, request_hash, model, price_micros, facts, tier, exchange_rate, rounding, expires_at, created_at
)
VALUES (
  :id, :tenantId, :requestHash, :model, :priceMicros, :facts, :tier, :exchangeRate, :rounding, :expiresAt, :now
)
