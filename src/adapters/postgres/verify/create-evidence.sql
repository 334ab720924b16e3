-- What others say of the same facts: the provider's own log and the list of the object store. A temporary table, so that
-- it is joined in the database and the look needs no memory for it. `at` is the witness's own time.
CREATE TEMP TABLE evidence (
  kind text NOT NULL,
  id text,
  reference text,
  amount numeric,
  at timestamptz
)
