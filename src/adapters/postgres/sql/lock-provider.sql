-- One provider with its manners, locked until the transaction ends.
SELECT id, display_name, status, undecidable_policy, unknown_window_ms, absence_grace_ms, poll_interval_ms,
  output_hosts, charges_on_cancel
FROM providers WHERE id = :providerId FOR NO KEY UPDATE
