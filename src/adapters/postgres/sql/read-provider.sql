-- One provider with its manners.
SELECT id, display_name, status, undecidable_policy, unknown_window_ms, create_settles_ms, absence_grace_ms,
  poll_interval_ms, output_hosts, charges_on_cancel
FROM providers WHERE id = :providerId
