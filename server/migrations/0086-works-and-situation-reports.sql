-- Planned works and closures, and maintenance of sensors.
CREATE TABLE works (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  title          text NOT NULL,
  kind           text COLLATE "C" NOT NULL CHECK (kind IN ('ROADWORKS', 'CLOSURE', 'EVENT', 'MAINTENANCE')),
  state          text COLLATE "C" NOT NULL DEFAULT 'DRAFT'
                 CHECK (state IN ('DRAFT', 'APPROVED', 'ACTIVE', 'ENDED', 'CANCELLED')),
  description    text,
  contact        text,
  road           text,
  direction      text COLLATE "C",
  from_kilometre numeric(8, 3),
  to_kilometre   numeric(8, 3),
  location_id    uuid REFERENCES locations (id) ON DELETE SET NULL,
  geometry       jsonb,
  lanes          text[] CHECK (cardinality(lanes) BETWEEN 1 AND 12),
  sensor_ids     uuid[] NOT NULL DEFAULT '{}',
  starts_at      timestamptz(3) NOT NULL,
  ends_at        timestamptz(3) NOT NULL,
  timezone       text NOT NULL,
  -- The hours of the day and the days of the week on which they begin; null: always.
  recurrence     jsonb,
  opens_incident boolean NOT NULL DEFAULT false,
  -- The window in force, or the next one, and when the service has to act: at its start, or at its end.
  window_from    timestamptz(3),
  window_until   timestamptz(3),
  next_at        timestamptz(3),
  created_by     uuid NOT NULL,
  -- Who last changed what is to be approved: another person approves it.
  proposed_by    uuid NOT NULL,
  approved_by    uuid,
  approved_at    timestamptz(3),
  cancelled_by   uuid,
  cancel_reason  text,
  version        integer NOT NULL DEFAULT 1,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (starts_at < ends_at),
  CHECK ((next_at IS NOT NULL) = (state IN ('APPROVED', 'ACTIVE'))),
  CHECK ((window_from IS NULL) = (window_until IS NULL)),
  CHECK (next_at IS NULL OR window_from IS NOT NULL)
);
CREATE INDEX works_due ON works (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX works_by_start ON works (starts_at, id);
CREATE INDEX works_not_over ON works (ends_at) WHERE state IN ('DRAFT', 'APPROVED', 'ACTIVE');
CREATE INDEX works_of_location ON works (location_id) WHERE location_id IS NOT NULL;

-- The windows that began, or that passed while no process of the service ran.
CREATE TABLE works_windows (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  works_id    uuid NOT NULL REFERENCES works (id) ON DELETE CASCADE,
  starts_at   timestamptz(3) NOT NULL,
  ends_at     timestamptz(3) NOT NULL,
  state       text COLLATE "C" NOT NULL CHECK (state IN ('ACTIVE', 'ENDED', 'MISSED', 'CANCELLED')),
  began_at    timestamptz(3),
  ended_at    timestamptz(3),
  incident_id uuid REFERENCES incidents (id) ON DELETE SET NULL,
  CHECK ((began_at IS NULL) = (state = 'MISSED'))
);
CREATE INDEX works_windows_of_works ON works_windows (works_id, id);
CREATE INDEX works_windows_by_start ON works_windows (starts_at);
CREATE INDEX works_windows_by_incident ON works_windows (incident_id) WHERE incident_id IS NOT NULL;
-- At most one window of works is in force.
CREATE UNIQUE INDEX works_windows_active ON works_windows (works_id) WHERE state = 'ACTIVE';

-- The sensors in maintenance while a window is in force, with what they were before.
CREATE TABLE works_sensors (
  works_id      uuid NOT NULL REFERENCES works (id) ON DELETE CASCADE,
  sensor_id     uuid NOT NULL,
  status_before text COLLATE "C" NOT NULL,
  -- Since when they are in maintenance because of it. Another time means that somebody changed the status.
  set_at        timestamptz(3) NOT NULL,
  PRIMARY KEY (works_id, sensor_id)
);
CREATE INDEX works_sensors_by_sensor ON works_sensors (sensor_id);

-- Situation reports: those of an incident are numbered, and kept as long as it.
CREATE TABLE situation_reports (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  number      integer NOT NULL,
  kind        text COLLATE "C" NOT NULL CHECK (kind IN ('INITIAL', 'INTERMEDIATE', 'FINAL')),
  -- For whom it is: notes for a smaller circle are not in it.
  audience    text COLLATE "C" NOT NULL CHECK (audience IN ('INTERNAL', 'PARTNERS', 'PUBLIC')),
  -- The e-mail addresses to which it is sent, and the message.
  recipients  text[] NOT NULL DEFAULT '{}',
  subject     text,
  message     text,
  -- The row of `reports` with its file, and the SHA-256 of the file once it is made, as 64 hexadecimal digits.
  report_id   uuid NOT NULL,
  sha256      text COLLATE "C",
  created_by  uuid NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (incident_id, number)
);
CREATE UNIQUE INDEX situation_reports_by_report ON situation_reports (report_id);

-- Those of situation reports belong to no schedule.
ALTER TABLE report_dispatches ALTER COLUMN schedule_id DROP NOT NULL;

-- Who may read a note: INTERNAL, PARTNERS or PUBLIC; null: INTERNAL.
ALTER TABLE incident_timeline ADD COLUMN audience text COLLATE "C";
