-- Which bytes an attempt was about to show at which key of ours: what stands there is adopted only if it is exactly that.
ALTER TABLE "task_attempts" ADD COLUMN "raw_write" JSONB;
ALTER TABLE "task_attempts" ADD CONSTRAINT "task_attempts_raw_write_is_whole" CHECK (
  raw_write IS NULL OR raw_write ?& ARRAY['key', 'sizeBytes', 'sha256']
);
