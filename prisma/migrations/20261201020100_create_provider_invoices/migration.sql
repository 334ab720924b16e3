-- What providers say they charged, item by item, and what each item was found to be. Never changed once imported.

CREATE TABLE "provider_invoices" (
    "id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "format" TEXT NOT NULL,
    "size_bytes" INTEGER NOT NULL,
    "period_start" TIMESTAMPTZ(3) NOT NULL,
    "period_end" TIMESTAMPTZ(3) NOT NULL,
    "line_count" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_invoices_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "provider_invoice_items" (
    "id" UUID NOT NULL,
    "invoice_id" UUID NOT NULL,
    "provider_id" TEXT NOT NULL,
    "line_no" INTEGER,
    "item_key" TEXT NOT NULL,
    "job_id" TEXT,
    "reference" TEXT,
    "amount" DECIMAL(20,6) NOT NULL,
    "currency" TEXT NOT NULL,
    "cost_micros" BIGINT NOT NULL,
    "charged_at" TIMESTAMPTZ(3),
    "class" TEXT NOT NULL,
    "cause" TEXT NOT NULL,
    "tenant_id" UUID,
    "task_id" UUID,
    "attempt_id" UUID,
    "booked_amount" DECIMAL(20,6),
    "booked_currency" TEXT,
    "booked_micros" BIGINT,
    "adjustment" TEXT NOT NULL,
    "adjusted_micros" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "provider_invoice_items_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "provider_invoices_provider_id_digest_key" ON "provider_invoices"("provider_id", "digest");
CREATE UNIQUE INDEX "provider_invoice_items_invoice_id_line_no_key" ON "provider_invoice_items"("invoice_id", "line_no");
CREATE INDEX "provider_invoice_items_invoice_id_id_idx" ON "provider_invoice_items"("invoice_id", "id");
CREATE INDEX "provider_invoice_items_provider_id_job_id_idx" ON "provider_invoice_items"("provider_id", "job_id");
CREATE INDEX "provider_invoice_items_attempt_id_idx" ON "provider_invoice_items"("attempt_id");
-- An item counts once, on however many invoices it stands.
CREATE UNIQUE INDEX provider_invoice_items_counted ON provider_invoice_items (provider_id, item_key) WHERE cause <> 'ITEM_SEEN_BEFORE';

ALTER TABLE "provider_invoices" ADD CONSTRAINT "provider_invoices_provider_id_fkey" FOREIGN KEY ("provider_id") REFERENCES "providers"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "provider_invoice_items" ADD CONSTRAINT "provider_invoice_items_invoice_id_fkey" FOREIGN KEY ("invoice_id") REFERENCES "provider_invoices"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE provider_invoices
  ADD CONSTRAINT provider_invoices_format_check CHECK (format IN ('CSV', 'JSON_LINES')),
  ADD CONSTRAINT provider_invoices_period_check CHECK (period_end > period_start);

ALTER TABLE provider_invoice_items
  ADD CONSTRAINT provider_invoice_items_class_check
    CHECK (class IN ('MATCHED', 'PRICE_DIFFERENCE', 'DUPLICATE', 'ORPHAN', 'LATE', 'UNCHARGED_SUCCESS')),
  ADD CONSTRAINT provider_invoice_items_amount_check CHECK (amount >= 0 AND cost_micros >= 0),
  ADD CONSTRAINT provider_invoice_items_line_check CHECK ((line_no IS NULL) = (class = 'UNCHARGED_SUCCESS')),
  ADD CONSTRAINT provider_invoice_items_attempt_check CHECK (attempt_id IS NOT NULL OR class IN ('ORPHAN', 'DUPLICATE')),
  ADD CONSTRAINT provider_invoice_items_adjustment_check
    CHECK (adjustment IN ('NONE', 'BOOKED', 'INSUFFICIENT_CREDITS', 'BALANCE_TOO_LARGE') AND (adjustment = 'NONE') = (adjusted_micros = 0));

CREATE TRIGGER provider_invoices_append_only BEFORE UPDATE OR DELETE ON provider_invoices
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entry();
CREATE TRIGGER provider_invoice_items_append_only BEFORE UPDATE OR DELETE ON provider_invoice_items
  FOR EACH ROW EXECUTE FUNCTION refuse_change_of_entry();
