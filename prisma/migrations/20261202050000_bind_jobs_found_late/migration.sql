-- An attempt that was taken for never made may have a job all the same: its request reached the provider later.
INSERT INTO attempt_status_pairs (from_status, to_status) VALUES
  ('FAILED_BEFORE_ACCEPT', 'ACKED'),
  ('FAILED_BEFORE_ACCEPT', 'CANCELED'),
  ('FAILED_BEFORE_ACCEPT', 'FAILED'),
  ('FAILED_BEFORE_ACCEPT', 'RUNNING'),
  ('FAILED_BEFORE_ACCEPT', 'SUCCEEDED');
