-- Claim indexes hold only rows that somebody can claim now or later. Their predicates hang on columns that change
-- once or twice in a row's life, so that all other updates stay HOT.

CREATE INDEX generation_tasks_schedulable ON generation_tasks (schedule_at) WHERE schedule_at IS NOT NULL;
CREATE INDEX generation_tasks_live ON generation_tasks (created_at) WHERE finished_at IS NULL;
CREATE INDEX task_attempts_poll_due ON task_attempts (next_poll_at) WHERE next_poll_at IS NOT NULL;
CREATE INDEX task_attempts_live ON task_attempts (created_at) WHERE completed_at IS NULL;
CREATE INDEX outbox_events_pending ON outbox_events (available_at, id) WHERE status = 'PENDING';
CREATE INDEX bus_messages_ready ON bus_messages (consumer_group, available_at, id) WHERE status = 'READY';
CREATE UNIQUE INDEX bus_messages_group_event_key ON bus_messages (consumer_group, event_id);
CREATE INDEX provider_events_orphans ON provider_events (received_at) WHERE attempt_id IS NULL;
CREATE INDEX upload_sessions_open ON upload_sessions (expires_at) WHERE status = 'OPEN';
CREATE INDEX findings_open ON findings (first_seen_at) WHERE resolved_at IS NULL;

ALTER TABLE outbox_events ADD CONSTRAINT outbox_events_status_check CHECK (status IN ('PENDING', 'PUBLISHED', 'DEAD'));
ALTER TABLE bus_messages ADD CONSTRAINT bus_messages_status_check CHECK (status IN ('READY', 'DEAD'));
