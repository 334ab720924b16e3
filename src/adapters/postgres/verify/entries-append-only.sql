-- What is written once: each of these tables refuses each kind of change, by whatever trigger. The list stands here alone.
SELECT written.relation AS subject, 'nothing refuses ' || change.name AS detail
FROM (VALUES
  ('credit_ledger'), ('provider_costs'), ('provider_invoices'), ('provider_invoice_items'), ('audit_log'), ('moderation_decisions')
) AS written (relation)
-- The bits of pg_trigger.tgtype; 2 is BEFORE.
CROSS JOIN (VALUES ('DELETE', 8), ('UPDATE', 16), ('TRUNCATE', 32)) AS change (name, bit)
WHERE NOT EXISTS (
  SELECT 1 FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid
  WHERE t.tgrelid = to_regclass(written.relation) AND t.tgenabled IN ('O', 'A') AND t.tgqual IS NULL
    AND t.tgtype::int & (change.bit | 2) = (change.bit | 2) AND p.prosrc LIKE '%RAISE EXCEPTION%'
)
ORDER BY written.relation, change.bit
LIMIT :limit::int
