-- A lease is an `available_at` in the future. A message whose last lease ended without an answer becomes DEAD here:
-- it may be what killed its consumers. What was due before `from` an earlier look has taken.
-- The ids stand there twice, so that no plan walks the whole table to meet them.
WITH due AS (
  SELECT id, available_at, deliveries >= :deliveriesMax::int AS exhausted
  FROM bus_messages
  WHERE consumer_group = :consumerGroup AND status = 'READY'
    AND available_at >= :from::timestamptz AND available_at <= :now::timestamptz
  ORDER BY available_at, id
  LIMIT :max::int
  FOR UPDATE SKIP LOCKED
),
leased AS (
  UPDATE bus_messages m
  SET status       = CASE WHEN due.exhausted THEN 'DEAD' ELSE 'READY' END,
      available_at = CASE WHEN due.exhausted THEN m.available_at ELSE :leaseUntil::timestamptz END,
      lease_token  = CASE WHEN due.exhausted THEN NULL ELSE gen_random_uuid() END,
      deliveries   = CASE WHEN due.exhausted THEN m.deliveries ELSE m.deliveries + 1 END,
      last_error   = CASE WHEN due.exhausted THEN COALESCE(m.last_error, 'every lease ended without an answer') ELSE m.last_error END
  FROM due
  WHERE m.id = due.id AND m.id = ANY (ARRAY(SELECT id FROM due))
  RETURNING m.id, due.available_at AS due_at, due.exhausted, m.event_id, m.envelope, m.lease_token, m.deliveries, m.last_error
)
SELECT id, due_at, exhausted, event_id, envelope, lease_token, deliveries, last_error
FROM leased
ORDER BY due_at, id
