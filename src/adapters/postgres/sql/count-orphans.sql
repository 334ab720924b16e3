-- Provider events that belong to no attempt yet.
SELECT count(*)::integer AS orphans FROM provider_events WHERE attempt_id IS NULL
