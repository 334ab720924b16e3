UPDATE bus_messages m
SET available_at = :leaseUntil::timestamptz
FROM unnest(:ids::bigint[], :leaseTokens::uuid[]) AS held (id, lease_token)
WHERE m.id = held.id AND m.lease_token = held.lease_token AND m.id = ANY (:ids::bigint[])
RETURNING m.id
