-- An entry moves the amount that it names, in the way of its kind. The table's own check is wider, and can be taken away.
SELECT l.id AS subject,
  format('%s of %s moved %s available and %s held', l.kind, l.amount_micros, l.available_delta, l.held_delta) AS detail
FROM credit_ledger l
WHERE CASE l.kind
  WHEN 'RESERVE' THEN l.available_delta <> -l.amount_micros OR l.held_delta <> l.amount_micros
  WHEN 'SETTLE' THEN l.available_delta <> 0 OR l.held_delta <> -l.amount_micros
  WHEN 'RELEASE' THEN l.available_delta <> l.amount_micros OR l.held_delta <> -l.amount_micros
  WHEN 'ADJUSTMENT' THEN abs(l.available_delta) <> l.amount_micros OR l.held_delta <> 0
  ELSE l.available_delta <> l.amount_micros OR l.held_delta <> 0
END
ORDER BY l.id
LIMIT :limit::int
