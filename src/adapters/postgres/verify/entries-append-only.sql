SELECT wanted.name AS subject,
  CASE WHEN t.oid IS NULL THEN 'the trigger is missing'
       WHEN t.tgenabled NOT IN ('O', 'A') THEN 'the trigger is disabled'
       ELSE 'the trigger refuses nothing' END AS detail
FROM (VALUES
  ('credit_ledger', 'credit_ledger_append_only'), ('credit_ledger', 'credit_ledger_no_truncate'),
  ('provider_costs', 'provider_costs_append_only'), ('audit_log', 'audit_log_append_only')
) AS wanted (relation, name)
LEFT JOIN pg_trigger t ON t.tgname = wanted.name AND t.tgrelid = to_regclass(wanted.relation)
LEFT JOIN pg_proc p ON p.oid = t.tgfoid
WHERE t.oid IS NULL OR t.tgenabled NOT IN ('O', 'A') OR p.prosrc NOT LIKE '%RAISE EXCEPTION%'
