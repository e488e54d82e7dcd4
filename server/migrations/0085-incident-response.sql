ALTER TABLE incident_work
  ADD COLUMN merged_into  uuid REFERENCES incidents (id) ON DELETE SET NULL,
  -- The response plan in the version that the incident got; both outlive the plan.
  ADD COLUMN plan_id      uuid,
  ADD COLUMN plan_version integer;
CREATE INDEX incident_work_by_merged ON incident_work (merged_into) WHERE merged_into IS NOT NULL;

-- Agencies that are called to incidents.
CREATE TABLE agencies (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name       text NOT NULL,
  kind       text COLLATE "C" NOT NULL CHECK (kind IN ('POLICE', 'FIRE', 'MEDICAL', 'TOW', 'ROAD', 'OTHER')),
  phone      text,
  email      text,
  areas      text[] NOT NULL DEFAULT '{}',
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Those that were called to an incident, by unit, with their name at that time.
CREATE TABLE incident_agencies (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  incident_id   uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  agency_id     uuid REFERENCES agencies (id) ON DELETE SET NULL,
  name          text NOT NULL,
  kind          text COLLATE "C" NOT NULL,
  unit          text,
  notified_at   timestamptz(3),
  dispatched_at timestamptz(3),
  arrived_at    timestamptz(3),
  left_at       timestamptz(3),
  added_by      uuid NOT NULL,
  added_at      timestamptz(3) NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX incident_agencies_of_incident ON incident_agencies (incident_id, added_at);
CREATE INDEX incident_agencies_of_agency ON incident_agencies (agency_id) WHERE agency_id IS NOT NULL;

-- Response plans. Empty arrays: for all.
CREATE TABLE plans (
  id             uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name           text NOT NULL,
  incident_types text[] NOT NULL DEFAULT '{}',
  -- The rank, 1 LOW … 4 CRITICAL.
  min_severity   smallint NOT NULL CHECK (min_severity BETWEEN 1 AND 4),
  roads          text[] NOT NULL DEFAULT '{}',
  location_ids   uuid[] NOT NULL DEFAULT '{}',
  is_enabled     boolean NOT NULL DEFAULT true,
  version        integer NOT NULL DEFAULT 1,
  -- As in plans.create.
  steps          jsonb NOT NULL,
  created_by     uuid NOT NULL,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  updated_at     timestamptz(3) NOT NULL DEFAULT now()
);

-- What the plans were; rows never change.
CREATE TABLE plan_versions (
  plan_id    uuid NOT NULL,
  version    integer NOT NULL,
  name       text NOT NULL,
  steps      jsonb NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (plan_id, version)
);

-- Steps that are done or skipped; the others are open.
CREATE TABLE incident_steps (
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  plan_id     uuid NOT NULL,
  version     integer NOT NULL,
  key         text COLLATE "C" NOT NULL,
  state       text COLLATE "C" NOT NULL CHECK (state IN ('DONE', 'SKIPPED')),
  reason      text,
  user_id     uuid NOT NULL,
  at          timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (incident_id, plan_id, version, key)
);

-- Messages of response plans. Stored kinds are valid already.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check
  CHECK (kind IN ('FIRST', 'CHANGED', 'REPEAT', 'ESCALATED', 'CLEARED', 'SUMMARY', 'TEST', 'PLAN')) NOT VALID;
