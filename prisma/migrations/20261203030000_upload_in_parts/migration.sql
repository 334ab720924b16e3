-- How the bytes of an upload come, and of one in parts how long a part is and by what name the store knows the upload. Without
-- a name the store has not been asked yet: whoever needs the first URL asks it.
ALTER TABLE upload_sessions
  ADD COLUMN method text NOT NULL DEFAULT 'PUT',
  ADD COLUMN part_size_bytes bigint,
  ADD COLUMN store_upload_id text;
ALTER TABLE upload_sessions
  ADD CONSTRAINT upload_sessions_method_known CHECK (method IN ('PUT', 'POST', 'PARTS')) NOT VALID,
  ADD CONSTRAINT upload_sessions_parts_planned
    CHECK ((method = 'PARTS') = (part_size_bytes IS NOT NULL) AND (method = 'PARTS' OR store_upload_id IS NULL)) NOT VALID;
ALTER TABLE upload_sessions VALIDATE CONSTRAINT upload_sessions_method_known;
ALTER TABLE upload_sessions VALIDATE CONSTRAINT upload_sessions_parts_planned;
