SELECT DISTINCT o.aggregate_id AS task_id
FROM outbox_events o
WHERE o.aggregate_id = ANY (:taskIds::uuid[]) AND o.type = 'billing.settlement.requested'
  AND NOT EXISTS (SELECT 1 FROM inbox_dedup i WHERE i.consumer_group = 'billing' AND i.event_id = o.id)
