INSERT INTO evidence (kind, id, reference, amount, at)
SELECT kind, id, reference, amount, at
FROM unnest(:kinds::text[], :ids::text[], :references::text[], :amounts::numeric[], :ats::timestamptz[])
  AS e (kind, id, reference, amount, at)
