-- Credits come in, or are corrected, by somebody's order that is in the audit log, or by one of three things that the product
-- books itself: the first tenant's credits at the first start, the refund of an output that a review rejected, and the
-- correction by an item of an invoice.
WITH moved AS (
  SELECT l.*, row_number() OVER (
      PARTITION BY l.task_id, l.kind, l.business_key LIKE '%:ref:%', l.amount_micros, l.actor ORDER BY l.id
    ) AS nth
  FROM credit_ledger l
  WHERE l.kind IN ('GRANT', 'REFUND', 'ADJUSTMENT')
)
SELECT l.id AS subject, format('%s of %s by %s under %s: nobody ordered it', l.kind, l.amount_micros, l.actor, l.business_key) AS detail
FROM moved l
WHERE CASE l.kind
  WHEN 'GRANT' THEN NOT EXISTS (
    SELECT 1 FROM audit_log a
    WHERE a.action = 'credits.grant' AND a.subject_id = l.tenant_id::text AND a.actor = l.actor
      AND a.after ->> 'amountMicros' = l.amount_micros::text
      AND l.business_key = 'grant:' || l.tenant_id || ':' || (a.after ->> 'reference')
  ) AND NOT (
    l.business_key = 'grant:first-start:' || l.tenant_id
    AND l.tenant_id = (SELECT id FROM tenants ORDER BY created_at, id LIMIT 1)
  )
  WHEN 'REFUND' THEN NOT EXISTS (
    SELECT 1 FROM audit_log a
    WHERE a.action = 'credits.refund' AND a.subject_id = l.task_id::text AND a.actor = l.actor
      AND a.after ->> 'amountMicros' = l.amount_micros::text
      AND l.business_key = 'refund:' || l.task_id || ':ref:' || (a.after ->> 'reference')
  ) AND (l.business_key LIKE '%:ref:%' OR l.nth > (
    -- Those without a reference are alike, so they are counted; of a review there is one.
    SELECT count(*) FROM audit_log a
    WHERE a.action = 'credits.refund' AND a.subject_id = l.task_id::text AND a.actor = l.actor
      AND a.after ->> 'amountMicros' = l.amount_micros::text AND a.after ->> 'reference' IS NULL
  ) + (
    EXISTS (
      SELECT 1 FROM moderation_decisions m JOIN assets judged ON judged.id::text = m.subject_id AND judged.task_id = l.task_id
      WHERE m.subject_kind = 'OUTPUT' AND m.verdict = 'REJECT' AND m.decided_by = l.actor
    )
  )::int)
  ELSE NOT EXISTS (
    SELECT 1 FROM audit_log a
    WHERE a.action = 'credits.adjust' AND a.subject_id = coalesce(l.attempt_id, l.tenant_id)::text AND a.actor = l.actor
      AND a.after ->> 'deltaMicros' = l.available_delta::text
      AND l.business_key = 'adjustment:' || coalesce(l.attempt_id, l.tenant_id) || ':ref:' || (a.after ->> 'reference')
  ) AND NOT EXISTS (
    SELECT 1 FROM provider_invoice_items i
    WHERE i.attempt_id = l.attempt_id AND i.adjustment = 'BOOKED' AND i.adjusted_micros = l.available_delta
      -- Earlier ones had no word before the item.
      AND l.business_key IN (
        'adjustment:' || i.attempt_id || ':item:' || i.item_key, 'adjustment:' || i.attempt_id || ':' || i.item_key
      )
  )
END
ORDER BY l.id
LIMIT :limit::int
