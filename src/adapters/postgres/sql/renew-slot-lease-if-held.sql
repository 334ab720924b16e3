UPDATE slot_leases
SET expires_at = :expiresAt::timestamptz
WHERE holder = :holder::uuid AND token = :token::bigint
RETURNING holder
