-- Unique keys and checks that the flow relies on when two come at once. Whether old rows keep a check is asked elsewhere.
SELECT guard.relation || ' (' || guard.columns || ')' AS subject, 'no valid unique index' AS detail
FROM (VALUES
  ('generation_tasks', 'tenant_id,client_idempotency_key'), ('task_attempts', 'task_id,attempt_no'),
  ('task_attempts', 'provider_id,request_key'), ('task_attempts', 'provider_id,job_id'),
  ('provider_events', 'provider_id,source_event_id'), ('inbox_dedup', 'consumer_group,event_id'),
  ('bus_messages', 'consumer_group,event_id'), ('holds', 'task_id'), ('credit_ledger', 'business_key'),
  ('assets', 'business_key'), ('provider_costs', 'business_key'), ('slot_leases', 'holder')
) AS guard (relation, columns)
WHERE NOT EXISTS (
  SELECT 1 FROM pg_index i
  WHERE i.indrelid = to_regclass(guard.relation) AND i.indisunique AND i.indisvalid
    AND guard.columns = (
      SELECT string_agg(a.attname, ',' ORDER BY k.place)
      FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k (attnum, place)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    )
)
UNION ALL
SELECT guard.name, 'the check is missing'
FROM (VALUES
  ('accounts', 'accounts_available_check'), ('accounts', 'accounts_held_check'), ('holds', 'holds_settled_check'),
  ('credit_ledger', 'credit_ledger_deltas_check'), ('generation_tasks', 'generation_tasks_finished_check')
) AS guard (relation, name)
WHERE NOT EXISTS (
  SELECT 1 FROM pg_constraint c
  WHERE c.conname = guard.name AND c.conrelid = to_regclass(guard.relation)
)
