UPDATE bus_messages
SET status       = CASE WHEN deliveries >= :deliveriesMax::int THEN 'DEAD' ELSE 'READY' END,
    available_at = :availableAt::timestamptz,
    lease_token  = NULL,
    last_error   = :error
WHERE id = :id::bigint AND lease_token = :leaseToken::uuid
RETURNING status
