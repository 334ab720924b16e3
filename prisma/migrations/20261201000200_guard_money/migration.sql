-- Money that must add up: balances never negative, entries never changed, a hold closed once.

ALTER TABLE accounts
  ADD CONSTRAINT accounts_available_check CHECK (available_micros >= 0),
  ADD CONSTRAINT accounts_held_check CHECK (held_micros >= 0);

ALTER TABLE holds
  ADD CONSTRAINT holds_amount_check CHECK (amount_micros >= 0),
  ADD CONSTRAINT holds_status_check CHECK (status IN ('OPEN', 'CLOSED')),
  ADD CONSTRAINT holds_closed_check CHECK ((status = 'CLOSED') = (closed_at IS NOT NULL AND settled_micros IS NOT NULL AND close_reason IS NOT NULL)),
  ADD CONSTRAINT holds_settled_check CHECK (settled_micros BETWEEN 0 AND amount_micros);

ALTER TABLE credit_ledger
  ADD CONSTRAINT credit_ledger_kind_check CHECK (kind IN ('RESERVE', 'SETTLE', 'RELEASE', 'REFUND', 'ADJUSTMENT', 'GRANT')),
  ADD CONSTRAINT credit_ledger_amount_check CHECK (amount_micros >= 0),
  ADD CONSTRAINT credit_ledger_deltas_check CHECK (
    CASE kind
      WHEN 'RESERVE' THEN available_delta = -amount_micros AND held_delta = amount_micros
      WHEN 'SETTLE'  THEN available_delta = 0 AND held_delta = -amount_micros
      WHEN 'RELEASE' THEN available_delta = amount_micros AND held_delta = -amount_micros
      WHEN 'REFUND'  THEN available_delta = amount_micros AND held_delta = 0
      WHEN 'GRANT'   THEN available_delta = amount_micros AND held_delta = 0
      ELSE held_delta = 0 AND abs(available_delta) IN (0, amount_micros)
    END);

CREATE FUNCTION refuse_change_of_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation', CONSTRAINT = 'append_only';
END $$;

CREATE TRIGGER credit_ledger_append_only BEFORE UPDATE OR DELETE ON credit_ledger
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER credit_ledger_no_truncate BEFORE TRUNCATE ON credit_ledger
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER provider_costs_append_only BEFORE UPDATE OR DELETE ON provider_costs
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entry();
