-- What is written once stays as it was written, and an entry moves exactly the amount that it names.

-- An adjustment that named an amount and moved nothing passed the check before.
ALTER TABLE credit_ledger DROP CONSTRAINT credit_ledger_deltas_check;
ALTER TABLE credit_ledger ADD CONSTRAINT credit_ledger_deltas_check CHECK (
  CASE kind
    WHEN 'RESERVE' THEN available_delta = -amount_micros AND held_delta = amount_micros
    WHEN 'SETTLE'  THEN available_delta = 0 AND held_delta = -amount_micros
    WHEN 'RELEASE' THEN available_delta = amount_micros AND held_delta = -amount_micros
    WHEN 'REFUND'  THEN available_delta = amount_micros AND held_delta = 0
    WHEN 'GRANT'   THEN available_delta = amount_micros AND held_delta = 0
    WHEN 'ADJUSTMENT' THEN available_delta IN (amount_micros, -amount_micros) AND held_delta = 0
    ELSE false
  END);

CREATE TRIGGER moderation_decisions_append_only BEFORE UPDATE OR DELETE ON moderation_decisions
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entry();

CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER provider_costs_no_truncate BEFORE TRUNCATE ON provider_costs
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER provider_invoices_no_truncate BEFORE TRUNCATE ON provider_invoices
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER provider_invoice_items_no_truncate BEFORE TRUNCATE ON provider_invoice_items
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER moderation_decisions_no_truncate BEFORE TRUNCATE ON moderation_decisions
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entry();
