-- Pauses or resumes a provider.
UPDATE providers SET status = :status, updated_at = :now WHERE id = :providerId
