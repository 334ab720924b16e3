SELECT found.subject, found.detail
FROM (
  SELECT a.id::text AS subject, 'attempt and generation are of two tenants' AS detail
  FROM task_attempts a JOIN generation_tasks t ON t.id = a.task_id WHERE a.tenant_id <> t.tenant_id
  UNION ALL
  SELECT h.id::text, 'hold and generation are of two tenants'
  FROM holds h JOIN generation_tasks t ON t.id = h.task_id WHERE h.tenant_id <> t.tenant_id
  UNION ALL
  SELECT l.id::text, 'entry and generation are of two tenants'
  FROM credit_ledger l JOIN generation_tasks t ON t.id = l.task_id WHERE l.tenant_id <> t.tenant_id
  UNION ALL
  SELECT e.event_id::text, 'history and generation are of two tenants'
  FROM task_state_events e JOIN generation_tasks t ON t.id = e.task_id WHERE e.tenant_id <> t.tenant_id
  UNION ALL
  SELECT r.task_id::text, 'request and generation are of two tenants'
  FROM generation_requests r JOIN generation_tasks t ON t.id = r.task_id WHERE r.tenant_id <> t.tenant_id
  UNION ALL
  SELECT i.task_id::text, 'input ' || i.asset_id || ' is of another tenant'
  FROM generation_inputs i JOIN generation_tasks t ON t.id = i.task_id JOIN assets a ON a.id = i.asset_id
  WHERE a.tenant_id <> t.tenant_id
  UNION ALL
  SELECT t.id::text, 'quote ' || q.id || ' is of another tenant'
  FROM generation_tasks t JOIN quotes q ON q.id = t.quote_id WHERE q.tenant_id <> t.tenant_id
  UNION ALL
  SELECT t.id::text, 'project ' || p.id || ' is of another tenant'
  FROM generation_tasks t JOIN projects p ON p.id = t.project_id WHERE p.tenant_id <> t.tenant_id
  UNION ALL
  SELECT t.id::text, 'key ' || k.id || ' is of another tenant'
  FROM generation_tasks t JOIN api_keys k ON k.id = t.api_key_id WHERE k.tenant_id <> t.tenant_id
  UNION ALL
  SELECT t.id::text, 'output ' || a.id || ' is of another tenant'
  FROM generation_tasks t JOIN assets a ON a.id = t.output_asset_id WHERE a.tenant_id <> t.tenant_id
  UNION ALL
  SELECT a.id::text, 'asset and generation are of two tenants'
  FROM assets a JOIN generation_tasks t ON t.id = a.task_id WHERE a.tenant_id <> t.tenant_id
  UNION ALL
  SELECT a.id::text, 'asset and parent are of two tenants'
  FROM assets a JOIN assets p ON p.id = a.parent_asset_id WHERE a.tenant_id <> p.tenant_id
  UNION ALL
  SELECT u.id::text, 'upload and asset are of two tenants'
  FROM upload_sessions u JOIN assets a ON a.id = u.asset_id WHERE u.tenant_id <> a.tenant_id
  UNION ALL
  SELECT o.id::text, 'message and generation are of two tenants'
  FROM outbox_events o JOIN generation_tasks t ON t.id = o.aggregate_id WHERE o.tenant_id <> t.tenant_id
  UNION ALL
  SELECT a.id::text, 'its object lies in the folder of another tenant'
  FROM assets a
  WHERE a.object_key NOT LIKE 'tenants/' || a.tenant_id || '/%'
    OR (a.quarantine_key IS NOT NULL AND a.quarantine_key NOT LIKE 'quarantine/tenants/' || a.tenant_id || '/%')
) AS found
ORDER BY found.subject
LIMIT :limit::int
