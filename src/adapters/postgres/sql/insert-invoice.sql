-- An invoice as it was imported. The same file of a provider collides on provider_invoices_provider_id_digest_key.
INSERT INTO provider_invoices (
  id, provider_id, digest, format, size_bytes, period_start, period_end, line_count, reason, actor, created_at
)
VALUES (
  :id, :providerId, :digest, :format, :sizeBytes, :periodStart, :periodEnd, :lineCount, :reason, :actor, :createdAt
)
