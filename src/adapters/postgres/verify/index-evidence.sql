CREATE INDEX evidence_kind_reference_idx ON evidence (kind, reference)
