SELECT scope, in_use FROM slot_scopes WHERE scope = ANY (:scopes::text[])
