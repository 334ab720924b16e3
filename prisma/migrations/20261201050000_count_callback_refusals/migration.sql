-- Callbacks that were refused, counted by their reason. Only for attempts that exist: the path's key cannot be guessed, so
-- strangers write nothing here.

CREATE TABLE callback_refusals (
  provider_id text NOT NULL,
  request_key text NOT NULL,
  reason text NOT NULL,
  refusals integer NOT NULL,
  first_at timestamptz(3) NOT NULL,
  last_at timestamptz(3) NOT NULL,
  CONSTRAINT callback_refusals_pkey PRIMARY KEY (provider_id, request_key, reason)
);
