-- Ends findings of generations that stood still, and have moved since.
UPDATE findings f SET resolved_at = :now
FROM generation_tasks t
WHERE f.resolved_at IS NULL AND f.kind = 'STUCK_TASK' AND f.subject_kind = 'task'
  AND t.id = f.subject_id::uuid AND t.updated_at > f.last_seen_at
