-- What operators decide and look through: who closed a finding and why, and lists that read only the rows they show.

ALTER TABLE findings
  ADD COLUMN resolved_by text,
  ADD COLUMN resolution text,
  ADD CONSTRAINT findings_resolved_check CHECK (
    (resolved_by IS NULL) = (resolution IS NULL) AND (resolved_by IS NULL OR resolved_at IS NOT NULL));

CREATE INDEX audit_log_subject_id_id_idx ON audit_log (subject_id, id);
CREATE INDEX findings_unresolved ON findings (id) WHERE resolved_at IS NULL;
-- No predicate on the status of generations or attempts: it would end the HOT updates of every transition.
CREATE INDEX generation_tasks_need_operator ON generation_tasks (id) WHERE needs_operator AND finished_at IS NULL;
CREATE INDEX outbox_events_dead ON outbox_events (id) WHERE status = 'DEAD';
CREATE INDEX bus_messages_dead ON bus_messages (event_id) WHERE status = 'DEAD';
-- Rejected uploads are kept for a while, so that a false positive can be released.
CREATE INDEX assets_in_quarantine ON assets (updated_at) WHERE status = 'REJECTED' AND quarantine_key IS NOT NULL;
