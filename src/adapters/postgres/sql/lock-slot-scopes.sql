-- Every acquire and release writes this table, so they wait until the counts agree with the leases again.
LOCK TABLE slot_scopes IN SHARE ROW EXCLUSIVE MODE
