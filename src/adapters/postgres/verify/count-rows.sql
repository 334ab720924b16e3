SELECT (
  (SELECT count(*) FROM generation_tasks) + (SELECT count(*) FROM task_attempts)
  + (SELECT count(*) FROM task_state_events) + (SELECT count(*) FROM credit_ledger)
  + (SELECT count(*) FROM holds) + (SELECT count(*) FROM accounts) + (SELECT count(*) FROM assets)
  + (SELECT count(*) FROM upload_sessions) + (SELECT count(*) FROM provider_events)
  + (SELECT count(*) FROM provider_costs) + (SELECT count(*) FROM quotes) + (SELECT count(*) FROM outbox_events)
  + (SELECT count(*) FROM inbox_dedup) + (SELECT count(*) FROM bus_messages) + (SELECT count(*) FROM slot_leases)
  + (SELECT count(*) FROM findings) + (SELECT count(*) FROM audit_log) + (SELECT count(*) FROM evidence)
) AS counted
