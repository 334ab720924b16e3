-- Fencing tokens rise with every lease and outlive the leases: a flush of both slot tables starts no number again.

CREATE SEQUENCE slot_tokens AS bigint;

-- The queue's rows live for milliseconds. Vacuum by the number of dead rows, not by a share of a table that is
-- nearly empty whenever it is measured: the claim index stays small.
ALTER TABLE bus_messages SET (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0,
  autovacuum_vacuum_insert_threshold = 20000
);
