-- Stores what a provider said. Guard: once per (provider, source event); a repeat is counted on the first row.
INSERT INTO provider_events (
  id, provider_id, account_id, source, source_event_id, job_id, request_key, status, raw_status, observation,
  raw_digest, provider_updated_at, received_at, expires_at
)
VALUES (
  :id, :providerId, :accountId, :source, :sourceEventId, :jobId, :requestKey, :status, :rawStatus, :observation,
  :rawDigest, :providerUpdatedAt, :receivedAt, :expiresAt
)
ON CONFLICT (provider_id, source_event_id) DO UPDATE SET duplicates = provider_events.duplicates + 1
RETURNING duplicates = 0 AS is_new
