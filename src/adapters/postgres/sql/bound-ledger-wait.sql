-- From here on this transaction waits for no lock longer than this.
SELECT set_config('lock_timeout', :ledgerWait, true)
