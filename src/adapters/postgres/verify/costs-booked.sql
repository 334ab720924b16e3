-- Each charge that an attempt knows of and each item of an invoice is a cost in the books. An attempt's is booked by a message,
-- which is written with the charge.
SELECT found.subject, found.detail
FROM (
  SELECT a.id::text AS subject, format('cost %s %s, and it is not booked', a.cost_amount, a.cost_currency) AS detail
  FROM task_attempts a
  WHERE a.cost_amount IS NOT NULL AND a.updated_at < :settledBefore::timestamptz
    AND NOT EXISTS (SELECT 1 FROM provider_costs c WHERE c.business_key = 'cost:' || a.id)
    AND NOT EXISTS (
      SELECT 1 FROM outbox_events o
      WHERE o.aggregate_id = a.task_id AND o.type = 'billing.cost.observed' AND o.payload ->> 'attemptId' = a.id::text
        AND NOT EXISTS (SELECT 1 FROM inbox_dedup i WHERE i.consumer_group = 'billing' AND i.event_id = o.id)
    )
  UNION ALL
  SELECT i.id::text, format('item %s of invoice %s is %s %s, and it is not booked', i.item_key, i.invoice_id, i.amount, i.currency)
  FROM provider_invoice_items i
  WHERE i.line_no IS NOT NULL
    AND NOT EXISTS (
      SELECT 1 FROM provider_costs c WHERE c.business_key = 'invoice:' || i.provider_id || ':' || i.item_key
    )
) AS found
ORDER BY found.subject
LIMIT :limit::int
