-- The hold of a generation that ends. From here on this transaction waits for no lock longer than `ledgerWait`: what
-- follows is the ledger, and the end of a generation does not hang on it.
SELECT id, tenant_id, task_id, amount_micros, status, settled_micros, close_reason,
  set_config('lock_timeout', :ledgerWait, true) AS ledger_wait
FROM holds WHERE task_id = :taskId
