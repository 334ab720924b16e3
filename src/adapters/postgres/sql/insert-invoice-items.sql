-- The items of an invoice. One that counts twice collides on provider_invoice_items_counted.
INSERT INTO provider_invoice_items (
  id, invoice_id, provider_id, line_no, item_key, job_id, reference, amount, currency, cost_micros, charged_at, class,
  cause, tenant_id, task_id, attempt_id, booked_amount, booked_currency, booked_micros, adjustment, adjusted_micros,
  created_at
)
SELECT i.id, i.invoice_id, i.provider_id, i.line_no, i.item_key, i.job_id, i.reference, i.amount, i.currency,
  i.cost_micros, i.charged_at, i.class, i.cause, i.tenant_id, i.task_id, i.attempt_id, i.booked_amount,
  i.booked_currency, i.booked_micros, i.adjustment, i.adjusted_micros, :now::timestamptz
FROM jsonb_populate_recordset(NULL::provider_invoice_items, :items::jsonb) AS i
