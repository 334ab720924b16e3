-- Daily partitions live in a schema of their own. A UUIDv7 begins with 48 bits of Unix milliseconds, so a day is a
-- range of the key itself. The default partition takes what no day holds: an insert never fails for want of a day.

CREATE SCHEMA IF NOT EXISTS partitions;

CREATE TABLE partitions.task_state_events_rest PARTITION OF task_state_events DEFAULT;
CREATE TABLE partitions.outbox_events_rest PARTITION OF outbox_events DEFAULT;
CREATE TABLE partitions.inbox_dedup_rest PARTITION OF inbox_dedup DEFAULT;

-- The smallest UUIDv7 of the given instant.
CREATE FUNCTION uuid7_floor(at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid
$$;

-- Makes the partitions of `days` days from the day of `at`, for all three tables; answers how many it made.
-- A day whose rows already stand in the default partition is left there.
CREATE FUNCTION ensure_day_partitions(at timestamptz, days integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  parent text;
  day_start timestamptz;
  child text;
  crowded boolean;
  made integer := 0;
BEGIN
  FOREACH parent IN ARRAY ARRAY['task_state_events', 'outbox_events', 'inbox_dedup'] LOOP
    FOR i IN 0 .. days - 1 LOOP
      day_start := date_trunc('day', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + make_interval(days => i);
      child := parent || '_' || to_char(day_start AT TIME ZONE 'UTC', 'YYYYMMDD');
      CONTINUE WHEN to_regclass('partitions.' || child) IS NOT NULL;
      EXECUTE format('SELECT EXISTS (SELECT 1 FROM partitions.%I WHERE %I >= $1 AND %I < $2)',
        parent || '_rest', CASE parent WHEN 'outbox_events' THEN 'id' ELSE 'event_id' END,
        CASE parent WHEN 'outbox_events' THEN 'id' ELSE 'event_id' END)
        INTO crowded USING uuid7_floor(day_start), uuid7_floor(day_start + interval '1 day');
      CONTINUE WHEN crowded;
      EXECUTE format('CREATE TABLE partitions.%I PARTITION OF %I FOR VALUES FROM (%L) TO (%L)',
        child, parent, uuid7_floor(day_start), uuid7_floor(day_start + interval '1 day'));
      made := made + 1;
    END LOOP;
  END LOOP;
  RETURN made;
END $$;

-- Drops the partitions of days that ended before `before`, except outbox days that still hold unpublished rows.
CREATE FUNCTION drop_day_partitions(before timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  child record;
  busy boolean;
  dropped integer := 0;
BEGIN
  FOR child IN
    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'partitions' AND c.relkind = 'r'
      AND c.relname ~ '^(task_state_events|outbox_events|inbox_dedup)_[0-9]{8}$'
      AND to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= (before AT TIME ZONE 'UTC')::date
  LOOP
    IF child.relname LIKE 'outbox_events%' THEN
      EXECUTE format('SELECT EXISTS (SELECT 1 FROM partitions.%I WHERE status = ''PENDING'')', child.relname) INTO busy;
      CONTINUE WHEN busy;
    END IF;
    EXECUTE format('DROP TABLE partitions.%I', child.relname);
    dropped := dropped + 1;
  END LOOP;
  RETURN dropped;
END $$;
