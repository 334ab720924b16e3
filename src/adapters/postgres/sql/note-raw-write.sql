-- Notes on an attempt which bytes are about to be shown at which raw key. No guard: the latest note counts, and one that is
-- not of what stands there only costs a second download.
UPDATE task_attempts SET raw_write = :rawWrite::jsonb, version = version + 1, updated_at = :now
WHERE id = :attemptId
