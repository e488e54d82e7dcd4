-- The log of the control room, and its shifts. Entries are never changed, and what was handed over stays as it was.

ALTER TABLE retention_settings ADD COLUMN log_days integer;
ALTER TABLE retention_settings ADD CONSTRAINT log_is_kept CHECK (log_days >= 365);
ALTER TABLE retention_removals DROP CONSTRAINT retention_removals_class_check;
ALTER TABLE retention_removals ADD CONSTRAINT retention_removals_class_check
  CHECK (class IN ('events', 'images', 'reports', 'activity', 'traffic', 'hits', 'log'));

CREATE TABLE shifts (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  desk           text NOT NULL,
  lead_id        uuid NOT NULL,
  member_ids     uuid[] NOT NULL DEFAULT '{}',
  -- The shift from which it took over.
  previous_id    uuid,
  started_at     timestamptz(3) NOT NULL DEFAULT now(),
  -- Since when it waits for somebody who takes over, and what is handed over, as in the API.
  handed_over_at timestamptz(3),
  handed_over_by uuid,
  remarks        text,
  summary        jsonb,
  ended_at       timestamptz(3),
  -- Who took over, or who closed it although nobody did.
  accepted_by    uuid,
  closed_by      uuid,
  close_reason   text,
  CHECK ((summary IS NULL) = (handed_over_at IS NULL) AND (summary IS NULL) = (handed_over_by IS NULL)),
  CHECK ((ended_at IS NULL) = (accepted_by IS NULL AND closed_by IS NULL)),
  CHECK (accepted_by IS NULL OR summary IS NOT NULL),
  CHECK ((closed_by IS NULL) = (close_reason IS NULL))
);
CREATE UNIQUE INDEX shifts_open ON shifts (gantry_fold(desk)) WHERE ended_at IS NULL;
CREATE INDEX shifts_by_start ON shifts (started_at, id);
CREATE INDEX shifts_by_end ON shifts (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE log_entries (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- When it happened, which may be before it was written.
  at              timestamptz(3) NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  user_id         uuid NOT NULL,
  desk            text NOT NULL,
  shift_id        uuid,
  kind            text COLLATE "C" NOT NULL CHECK (kind IN ('NOTE', 'CALL', 'INSTRUCTION', 'FAULT', 'VISIT')),
  text            text NOT NULL,
  -- Who said it: {"who", "agency", "phone"}.
  source          jsonb,
  -- What it is about: [{"kind", "id", "name"}].
  refs            jsonb NOT NULL DEFAULT '[]',
  -- The entry in whose place this one stands.
  corrects        bigint,
  valid_until     timestamptz(3),
  idempotency_key text
);
CREATE INDEX log_entries_by_time ON log_entries (at, id);
CREATE INDEX log_entries_by_creation ON log_entries (created_at);
CREATE INDEX log_entries_of_shift ON log_entries (shift_id) WHERE shift_id IS NOT NULL;
CREATE INDEX log_entries_instructions ON log_entries (at) WHERE kind = 'INSTRUCTION';
CREATE INDEX log_entries_by_ref ON log_entries USING gin (refs jsonb_path_ops) WHERE refs <> '[]';
CREATE UNIQUE INDEX log_entries_corrections ON log_entries (corrects) WHERE corrects IS NOT NULL;
CREATE UNIQUE INDEX log_entries_once ON log_entries (user_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- Nobody changes an entry, and nobody deletes one before its retention: not even the role of the service.
CREATE FUNCTION keep_log_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM retention_settings WHERE OLD.created_at < now() - make_interval(days => log_days)
  ) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'An entry of the log is never changed, and not deleted before its retention'
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_log_entry BEFORE UPDATE OR DELETE ON log_entries FOR EACH ROW EXECUTE FUNCTION keep_log_entry();

-- What was handed over stays as it was, and so does a shift that has ended.
CREATE FUNCTION keep_shift() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    IF EXISTS (SELECT FROM retention_settings WHERE OLD.ended_at < now() - make_interval(days => log_days)) THEN
      RETURN OLD;
    END IF;
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
CREATE TRIGGER keep_shift BEFORE UPDATE OR DELETE ON shifts FOR EACH ROW EXECUTE FUNCTION keep_shift();

INSERT INTO alarm_rules (name, enabled, source, condition, severity, for_seconds, group_by) VALUES
  ('Hand-over not accepted', false, 'SYSTEM', '{"source": "SYSTEM", "part": "HANDOVER", "threshold": 30}', 2, 0, '{RULE}');
