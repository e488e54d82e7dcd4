-- Certificates of sensors, and cases: what two persons verify before it leaves the house.

-- Certificates are never changed or deleted, but withdrawn. They outlive the sensor.
CREATE TABLE certificates (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  sensor_id       uuid NOT NULL,
  -- The name when it was added, for a sensor that is deleted.
  sensor_name     text NOT NULL,
  kind            text COLLATE "C" NOT NULL CHECK (kind IN ('TYPE_APPROVAL', 'CALIBRATION', 'DISTANCE', 'CLOCK')),
  number          text NOT NULL,
  issuer          text,
  valid_from      timestamptz(3) NOT NULL,
  valid_until     timestamptz(3) NOT NULL,
  -- What is taken off a measured speed: {"fixedKmh", "percent", "roundDown"}.
  tolerance       jsonb,
  -- Its file is stored with the images.
  sha256          bytea REFERENCES images (sha256),
  file_name       text,
  note            text,
  created_by      uuid NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  withdrawn_at    timestamptz(3),
  withdrawn_by    uuid,
  withdraw_reason text,
  CHECK (valid_from < valid_until),
  CHECK ((sha256 IS NULL) = (file_name IS NULL)),
  CHECK ((withdrawn_at IS NULL) = (withdrawn_by IS NULL) AND (withdrawn_at IS NULL) = (withdraw_reason IS NULL))
);
CREATE INDEX certificates_of_sensor ON certificates (sensor_id, kind, valid_from);
CREATE INDEX certificates_by_end ON certificates (valid_until) WHERE withdrawn_at IS NULL;
CREATE INDEX certificates_by_file ON certificates (sha256) WHERE sha256 IS NOT NULL;

CREATE FUNCTION keep_certificate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.withdrawn_at IS NULL
    AND (to_jsonb(OLD) - ARRAY['withdrawn_at', 'withdrawn_by', 'withdraw_reason'])
      = (to_jsonb(NEW) - ARRAY['withdrawn_at', 'withdrawn_by', 'withdraw_reason']) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'A certificate is never changed or deleted, but withdrawn' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_certificate BEFORE UPDATE OR DELETE ON certificates FOR EACH ROW EXECUTE FUNCTION keep_certificate();

-- The hold of a case that a rule opened was set by nobody.
ALTER TABLE legal_holds ALTER COLUMN created_by DROP NOT NULL;

-- The last serial number of each year.
CREATE TABLE case_numbers (
  year smallint PRIMARY KEY,
  last integer NOT NULL
);

CREATE TABLE cases (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Year and serial number, such as 2026-000123.
  number           text COLLATE "C" NOT NULL UNIQUE,
  kind             text COLLATE "C" NOT NULL CHECK (kind IN ('VIOLATION', 'INCIDENT', 'HIT')),
  state            text COLLATE "C" NOT NULL DEFAULT 'NEW'
                   CHECK (state IN ('NEW', 'CHECKED', 'VERIFIED', 'DISPUTED', 'REJECTED', 'EXPORTED')),
  version          integer NOT NULL DEFAULT 1,
  -- What it is about, as it was when the case was opened.
  event_id         uuid,
  incident_id      uuid,
  hit_id           uuid,
  event_type       text,
  violation_type   text,
  title            text NOT NULL,
  sensor_id        uuid,
  sensor_name      text,
  location_id      uuid,
  location_name    text,
  plate            text,
  plate_key        text,
  plate_region     text,
  plate_confidence smallint,
  happened_at      timestamptz(3) NOT NULL,
  opened_at        timestamptz(3) NOT NULL DEFAULT now(),
  -- Null: by a rule.
  opened_by        uuid,
  -- Whether a second person must verify it.
  needs_second     boolean NOT NULL,
  -- Who checked it; who verified or disputed it; who rejected it, or decided about the dispute.
  first_by         uuid,
  first_at         timestamptz(3),
  second_by        uuid,
  second_at        timestamptz(3),
  decided_by       uuid,
  decided_at       timestamptz(3),
  code             text COLLATE "C",
  code_text        text,
  -- As in the API, when it was checked or verified last.
  checks           jsonb,
  checked_at       timestamptz(3),
  measured_kmh     double precision,
  limit_kmh        double precision,
  tolerance_kmh    double precision,
  -- The arithmetic, in words.
  speed_sentence   text,
  -- The speed by two line crossings: {"first", "second", "metres", "intervalMs", "kmh", "userId", "at"}.
  lines            jsonb,
  hold_id          uuid,
  locked_at        timestamptz(3),
  closed_at        timestamptz(3),
  closed_by        uuid,
  CHECK ((first_by IS NULL) = (first_at IS NULL) AND (second_by IS NULL) = (second_at IS NULL)
    AND (decided_by IS NULL) = (decided_at IS NULL) AND (closed_by IS NULL) = (closed_at IS NULL)),
  CHECK ((code IS NOT NULL) = (state = 'REJECTED')),
  CHECK (closed_at IS NULL OR state IN ('VERIFIED', 'REJECTED', 'EXPORTED')),
  CHECK ((locked_at IS NOT NULL) = (state IN ('VERIFIED', 'EXPORTED'))),
  CHECK (state IN ('NEW', 'REJECTED') OR first_by IS NOT NULL),
  CHECK (state <> 'DISPUTED' OR second_by <> first_by),
  -- Nobody verifies alone what two persons must verify.
  CHECK (state NOT IN ('VERIFIED', 'EXPORTED') OR NOT needs_second
    OR coalesce(decided_by, second_by) IS NOT NULL AND coalesce(decided_by, second_by) <> first_by)
);
CREATE UNIQUE INDEX cases_of_event ON cases (event_id) WHERE kind = 'VIOLATION';
CREATE UNIQUE INDEX cases_of_incident ON cases (incident_id) WHERE kind = 'INCIDENT';
CREATE UNIQUE INDEX cases_of_hit ON cases (hit_id) WHERE kind = 'HIT';
CREATE INDEX cases_open ON cases (state, happened_at, id) WHERE closed_at IS NULL;
CREATE INDEX cases_by_time ON cases (happened_at, id);
CREATE INDEX cases_by_closing ON cases (closed_at) WHERE closed_at IS NOT NULL;
CREATE INDEX cases_of_sensor ON cases (sensor_id, happened_at);
CREATE INDEX cases_by_plate ON cases (plate_key) WHERE plate_key IS NOT NULL;
CREATE INDEX cases_by_hold ON cases (hold_id);

CREATE TABLE case_items (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  seq            bigint GENERATED ALWAYS AS IDENTITY,
  case_id        uuid NOT NULL REFERENCES cases (id) ON DELETE CASCADE,
  role           text COLLATE "C" NOT NULL,
  event_id       uuid,
  certificate_id uuid,
  sha256         bytea REFERENCES images (sha256),
  captured_at    timestamptz(3),
  derived_from   uuid,
  text           text,
  added_by       uuid,
  added_at       timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX case_items_of_case ON case_items (case_id, seq);
CREATE INDEX case_items_by_file ON case_items (sha256) WHERE sha256 IS NOT NULL;
CREATE INDEX case_items_by_event ON case_items (event_id) WHERE event_id IS NOT NULL;

-- What was done with a case: each entry names the hash of the one before.
CREATE TABLE case_log (
  id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  case_id uuid NOT NULL REFERENCES cases (id),
  seq     integer NOT NULL,
  at      timestamptz(3) NOT NULL,
  -- Null: the service, by a rule.
  user_id uuid,
  action  text COLLATE "C" NOT NULL,
  details jsonb NOT NULL DEFAULT '{}',
  prev    bytea NOT NULL,
  hash    bytea NOT NULL,
  UNIQUE (case_id, seq)
);
CREATE INDEX case_log_by_time ON case_log (at, id);

-- The entries of cases that retention removed: their seals remain.
CREATE TABLE removed_case_log (
  id         bigint PRIMARY KEY,
  removed_at timestamptz(3) NOT NULL DEFAULT now()
);

ALTER TABLE retention_settings ADD COLUMN cases_days integer CHECK (cases_days >= 1);
ALTER TABLE retention_removals DROP CONSTRAINT retention_removals_class_check;
ALTER TABLE retention_removals ADD CONSTRAINT retention_removals_class_check
  CHECK (class IN ('events', 'images', 'reports', 'activity', 'traffic', 'hits', 'log', 'cases'));

-- Nobody changes an entry of the log, and nobody deletes a case before its retention: not even the role of the service.
CREATE FUNCTION keep_case_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND EXISTS (
    SELECT FROM cases, retention_settings
    WHERE cases.id = OLD.case_id AND closed_at < now() - make_interval(days => cases_days)
  ) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'An entry of the log of a case is never changed, and only deleted with the case'
    USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_case_log BEFORE UPDATE OR DELETE ON case_log FOR EACH ROW EXECUTE FUNCTION keep_case_log();

CREATE FUNCTION keep_case() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM retention_settings WHERE OLD.closed_at < now() - make_interval(days => cases_days)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'A case is not deleted before its retention' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER keep_case BEFORE DELETE ON cases FOR EACH ROW EXECUTE FUNCTION keep_case();

-- The items of a verified case stay as they are.
CREATE FUNCTION keep_case_item() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM cases, retention_settings WHERE cases.id = OLD.case_id AND locked_at IS NOT NULL
      AND (closed_at < now() - make_interval(days => cases_days)) IS NOT TRUE
  ) THEN
    RAISE EXCEPTION 'The items of a verified case are not changed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER keep_case_item BEFORE UPDATE OR DELETE ON case_items FOR EACH ROW EXECUTE FUNCTION keep_case_item();

-- The rules of cases: what needs a second person, and for which types of violations cases are opened by themselves.
CREATE TABLE case_rules (
  only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  second_person jsonb NOT NULL DEFAULT '{}',
  open_for      text[] NOT NULL DEFAULT '{}',
  open_on       text COLLATE "C" NOT NULL DEFAULT 'CONFIRMED' CHECK (open_on IN ('CONFIRMED', 'ARRIVAL'))
);
INSERT INTO case_rules DEFAULT VALUES;

-- The events for which a rule wants a case, until it is opened.
CREATE TABLE case_requests (
  event_id uuid PRIMARY KEY,
  -- Who confirmed the event; null: it arrived.
  user_id  uuid,
  at       timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX case_requests_by_time ON case_requests (at);

ALTER TABLE seals DROP CONSTRAINT seals_kind_check;
ALTER TABLE seals ADD CONSTRAINT seals_kind_check
  CHECK (kind IN ('KEY', 'EVENT', 'ACTIVITY', 'LOG', 'CASE_LOG')) NOT VALID;
INSERT INTO seal_progress (kind) VALUES ('CASE_LOG');
