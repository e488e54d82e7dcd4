-- Erasures of what was stored about a plate. The plate itself is not stored: `proof` is an HMAC of its key (decision 87).
CREATE TABLE erasures (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  started_at  timestamptz(3) NOT NULL DEFAULT now(),
  -- NULL until everything is erased; then the same command continues it.
  finished_at timestamptz(3),
  -- The user of the operating system who gave the command.
  requested_by text NOT NULL,
  reason      text NOT NULL,
  salt        bytea NOT NULL,
  proof       bytea NOT NULL,
  -- When the first of the erased events was stored: backups made since then contain some.
  first_at    timestamptz(3),
  -- Numbers of records by place.
  counts      jsonb NOT NULL DEFAULT '{}'
);

-- The events that lost what they said about a plate, and the sealed records whose texts were masked: their seals do not fit any more.
CREATE TABLE erased_records (
  kind       text COLLATE "C" NOT NULL CHECK (kind IN ('EVENT', 'ACTIVITY', 'LOG')),
  record_id  text COLLATE "C" NOT NULL,
  erasure_id uuid NOT NULL REFERENCES erasures (id),
  PRIMARY KEY (kind, record_id, erasure_id)
);
CREATE INDEX erased_records_of_erasure ON erased_records (erasure_id);

-- The log and what a shift handed over stay as they are, but for an erasure, which masks texts and nothing else.
CREATE OR REPLACE FUNCTION keep_log_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM retention_settings WHERE OLD.created_at < now() - make_interval(days => log_days)
  ) THEN
    RETURN OLD;
  END IF;
  IF TG_OP = 'UPDATE' AND current_setting('gantry.erasing', true) = 'on'
    AND to_jsonb(OLD) - ARRAY['text', 'source', 'refs'] = to_jsonb(NEW) - ARRAY['text', 'source', 'refs'] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'An entry of the log is never changed, and not deleted before its retention'
    USING ERRCODE = 'restrict_violation';
END $$;

CREATE OR REPLACE FUNCTION keep_shift() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM retention_settings WHERE OLD.ended_at < now() - make_interval(days => log_days)) THEN
      RETURN OLD;
    END IF;
  ELSIF current_setting('gantry.erasing', true) = 'on' AND to_jsonb(OLD) - ARRAY['remarks', 'summary', 'close_reason']
    = to_jsonb(NEW) - ARRAY['remarks', 'summary', 'close_reason'] THEN
    RETURN NEW;
  ELSIF OLD.ended_at IS NULL
    AND (OLD.id, OLD.desk, OLD.lead_id, OLD.member_ids, OLD.previous_id, OLD.started_at)
      IS NOT DISTINCT FROM (NEW.id, NEW.desk, NEW.lead_id, NEW.member_ids, NEW.previous_id, NEW.started_at)
    AND (OLD.summary IS NULL OR (OLD.handed_over_at, OLD.handed_over_by, OLD.remarks, OLD.summary)
      IS NOT DISTINCT FROM (NEW.handed_over_at, NEW.handed_over_by, NEW.remarks, NEW.summary)) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'What a shift handed over is never changed, and a shift is not deleted before its retention'
    USING ERRCODE = 'restrict_violation';
END $$;

-- Types of events that are kept for a shorter time when nothing came of them: by type, the days.
ALTER TABLE retention_settings ADD COLUMN events_without_hit jsonb;
