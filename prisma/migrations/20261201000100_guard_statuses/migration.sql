-- The transition tables of src/domain, held by the database as the second wall: a status pair that is not
-- listed is refused whatever code tries it. test/integration/postgres/status-pairs.test.ts compares both.

CREATE TABLE task_status_pairs (
  from_status text NOT NULL,
  to_status   text NOT NULL,
  CONSTRAINT task_status_pairs_pkey PRIMARY KEY (from_status, to_status)
);

CREATE TABLE attempt_status_pairs (
  from_status text NOT NULL,
  to_status   text NOT NULL,
  CONSTRAINT attempt_status_pairs_pkey PRIMARY KEY (from_status, to_status)
);

INSERT INTO task_status_pairs (from_status, to_status) VALUES
  ('CANCEL_REQUESTED', 'CANCELED'),
  ('CANCEL_REQUESTED', 'CANCEL_REQUESTED'),
  ('CANCEL_REQUESTED', 'EXPIRED'),
  ('CANCEL_REQUESTED', 'OUTPUT_FETCHING'),
  ('CREATED', 'CANCELED'),
  ('CREATED', 'VALIDATING'),
  ('DISPATCHING', 'CANCEL_REQUESTED'),
  ('DISPATCHING', 'DISPATCHING'),
  ('DISPATCHING', 'FAILED_FINAL'),
  ('DISPATCHING', 'RETRY_WAIT'),
  ('DISPATCHING', 'SUBMITTED'),
  ('DISPATCHING', 'SUBMIT_UNKNOWN'),
  ('OUTPUT_FETCHING', 'EXPIRED'),
  ('OUTPUT_FETCHING', 'FAILED_FINAL'),
  ('OUTPUT_FETCHING', 'OUTPUT_FETCHING'),
  ('OUTPUT_FETCHING', 'POST_PROCESSING'),
  ('POST_PROCESSING', 'FAILED_FINAL'),
  ('POST_PROCESSING', 'OUTPUT_FETCHING'),
  ('POST_PROCESSING', 'POST_PROCESSING'),
  ('POST_PROCESSING', 'SUCCEEDED'),
  ('QUEUED', 'CANCELED'),
  ('QUEUED', 'CANCEL_REQUESTED'),
  ('QUEUED', 'DISPATCHING'),
  ('QUEUED', 'EXPIRED'),
  ('QUEUED', 'FAILED_FINAL'),
  ('QUEUED', 'SUBMITTED'),
  ('QUOTA_RESERVED', 'CANCELED'),
  ('QUOTA_RESERVED', 'QUEUED'),
  ('RETRY_WAIT', 'CANCELED'),
  ('RETRY_WAIT', 'CANCEL_REQUESTED'),
  ('RETRY_WAIT', 'EXPIRED'),
  ('RETRY_WAIT', 'FAILED_FINAL'),
  ('RETRY_WAIT', 'QUEUED'),
  ('RETRY_WAIT', 'SUBMITTED'),
  ('RUNNING', 'CANCEL_REQUESTED'),
  ('RUNNING', 'FAILED_FINAL'),
  ('RUNNING', 'OUTPUT_FETCHING'),
  ('RUNNING', 'RETRY_WAIT'),
  ('RUNNING', 'RUNNING'),
  ('SUBMITTED', 'CANCEL_REQUESTED'),
  ('SUBMITTED', 'FAILED_FINAL'),
  ('SUBMITTED', 'OUTPUT_FETCHING'),
  ('SUBMITTED', 'RETRY_WAIT'),
  ('SUBMITTED', 'RUNNING'),
  ('SUBMITTED', 'SUBMITTED'),
  ('SUBMIT_UNKNOWN', 'CANCEL_REQUESTED'),
  ('SUBMIT_UNKNOWN', 'EXPIRED'),
  ('SUBMIT_UNKNOWN', 'FAILED_FINAL'),
  ('SUBMIT_UNKNOWN', 'RETRY_WAIT'),
  ('SUBMIT_UNKNOWN', 'SUBMITTED'),
  ('SUBMIT_UNKNOWN', 'SUBMIT_UNKNOWN'),
  ('SUCCEEDED', 'SUCCEEDED'),
  ('VALIDATING', 'CANCELED'),
  ('VALIDATING', 'EXPIRED'),
  ('VALIDATING', 'FAILED_FINAL'),
  ('VALIDATING', 'QUOTA_RESERVED'),
  ('VALIDATING', 'VALIDATING');

INSERT INTO attempt_status_pairs (from_status, to_status) VALUES
  ('ABANDONED', 'ACKED'),
  ('ABANDONED', 'CANCELED'),
  ('ABANDONED', 'FAILED'),
  ('ABANDONED', 'FAILED_BEFORE_ACCEPT'),
  ('ABANDONED', 'RUNNING'),
  ('ABANDONED', 'SUCCEEDED'),
  ('ACKED', 'CANCELED'),
  ('ACKED', 'FAILED'),
  ('ACKED', 'RUNNING'),
  ('ACKED', 'SUCCEEDED'),
  ('NEW', 'CANCELED'),
  ('NEW', 'FAILED_BEFORE_ACCEPT'),
  ('NEW', 'SENDING'),
  ('RUNNING', 'CANCELED'),
  ('RUNNING', 'FAILED'),
  ('RUNNING', 'SUCCEEDED'),
  ('SENDING', 'ACKED'),
  ('SENDING', 'CANCELED'),
  ('SENDING', 'FAILED'),
  ('SENDING', 'FAILED_BEFORE_ACCEPT'),
  ('SENDING', 'RUNNING'),
  ('SENDING', 'SUCCEEDED'),
  ('SENDING', 'UNKNOWN'),
  ('UNKNOWN', 'ABANDONED'),
  ('UNKNOWN', 'ACKED'),
  ('UNKNOWN', 'CANCELED'),
  ('UNKNOWN', 'FAILED'),
  ('UNKNOWN', 'FAILED_BEFORE_ACCEPT'),
  ('UNKNOWN', 'RUNNING'),
  ('UNKNOWN', 'SUCCEEDED');

ALTER TABLE generation_tasks
  ADD CONSTRAINT generation_tasks_status_check CHECK (status IN (
    'CREATED', 'VALIDATING', 'QUOTA_RESERVED', 'QUEUED', 'DISPATCHING', 'SUBMIT_UNKNOWN', 'SUBMITTED', 'RUNNING',
    'RETRY_WAIT', 'CANCEL_REQUESTED', 'OUTPUT_FETCHING', 'POST_PROCESSING', 'SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED')),
  ADD CONSTRAINT generation_tasks_progress_check CHECK (progress BETWEEN 0 AND 100),
  ADD CONSTRAINT generation_tasks_version_check CHECK (version >= 1),
  ADD CONSTRAINT generation_tasks_price_check CHECK (price_micros >= 0),
  ADD CONSTRAINT generation_tasks_finished_check CHECK (
    (finished_at IS NOT NULL) = (status IN ('SUCCEEDED', 'CANCELED', 'FAILED_FINAL', 'EXPIRED'))),
  ADD CONSTRAINT generation_tasks_schedule_check CHECK (schedule_at IS NULL OR status IN ('QUEUED', 'RETRY_WAIT')),
  ADD CONSTRAINT generation_tasks_cancel_reason_check CHECK (cancel_reason IN ('USER', 'DEADLINE', 'OPERATOR')),
  ADD CONSTRAINT generation_tasks_cancel_outcome_check CHECK (cancel_outcome IN ('BEFORE_SUBMIT', 'CONFIRMED', 'MOOT', 'TOO_LATE'));

ALTER TABLE task_attempts
  ADD CONSTRAINT task_attempts_status_check CHECK (status IN (
    'NEW', 'SENDING', 'UNKNOWN', 'ACKED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELED', 'FAILED_BEFORE_ACCEPT', 'ABANDONED')),
  ADD CONSTRAINT task_attempts_attempt_no_check CHECK (attempt_no >= 1);

CREATE UNIQUE INDEX task_attempts_provider_id_job_id_key ON task_attempts (provider_id, job_id) WHERE job_id IS NOT NULL;

ALTER TABLE assets
  ADD CONSTRAINT assets_kind_check CHECK (kind IN (
    'INPUT_IMAGE', 'INPUT_VIDEO', 'RAW_OUTPUT', 'PROXY', 'HLS', 'THUMBNAIL', 'STORYBOARD', 'WAVEFORM')),
  ADD CONSTRAINT assets_status_check CHECK (status IN (
    'UPLOADING', 'VALIDATING', 'PENDING', 'PROCESSING', 'READY', 'IN_REVIEW', 'REJECTED', 'FAILED', 'DELETED'));

CREATE FUNCTION refuse_unlisted_task_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.status NOT IN ('CREATED', 'VALIDATING', 'QUEUED') THEN
      RAISE EXCEPTION 'a generation cannot begin as %', NEW.status USING ERRCODE = 'check_violation', CONSTRAINT = 'task_status_pairs';
    END IF;
    RETURN NEW;
  END IF;
  IF NEW.version <> OLD.version + 1 THEN
    RAISE EXCEPTION 'version of generation % must go from % to %, not to %', OLD.id, OLD.version, OLD.version + 1, NEW.version
      USING ERRCODE = 'check_violation', CONSTRAINT = 'generation_tasks_version_step';
  END IF;
  IF NOT EXISTS (SELECT 1 FROM task_status_pairs WHERE from_status = OLD.status AND to_status = NEW.status) THEN
    RAISE EXCEPTION 'generation % may not go from % to %', OLD.id, OLD.status, NEW.status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'task_status_pairs';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER generation_tasks_begin BEFORE INSERT ON generation_tasks
  FOR EACH ROW EXECUTE FUNCTION refuse_unlisted_task_status();
CREATE TRIGGER generation_tasks_move BEFORE UPDATE ON generation_tasks
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status OR OLD.version IS DISTINCT FROM NEW.version)
  EXECUTE FUNCTION refuse_unlisted_task_status();

CREATE FUNCTION refuse_unlisted_attempt_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM attempt_status_pairs WHERE from_status = OLD.status AND to_status = NEW.status) THEN
    RAISE EXCEPTION 'attempt % may not go from % to %', OLD.id, OLD.status, NEW.status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'attempt_status_pairs';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER task_attempts_move BEFORE UPDATE ON task_attempts
  FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status)
  EXECUTE FUNCTION refuse_unlisted_attempt_status();
