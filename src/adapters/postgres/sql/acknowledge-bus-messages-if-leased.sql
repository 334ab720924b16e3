DELETE FROM bus_messages m
USING unnest(:ids::bigint[], :leaseTokens::uuid[]) AS held (id, lease_token)
WHERE m.id = held.id AND m.lease_token = held.lease_token
  AND m.id = ANY (:ids::bigint[])
