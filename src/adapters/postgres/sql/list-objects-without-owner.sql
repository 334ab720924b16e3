-- Those of the given keys that belong to no row and to no generation that lives or has ended since `endedSince`.
SELECT given.key
FROM unnest(:keys::text[]) AS given (key)
WHERE NOT object_has_owner(given.key, :endedSince)
ORDER BY given.key
