-- Faults of sensors, from when somebody found them until they are repaired. They outlive the sensor, like its history.
CREATE TABLE faults (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  sensor_id       uuid NOT NULL,
  -- The name at the report, for a sensor that is deleted.
  sensor_name     text NOT NULL,
  found_at        timestamptz(3) NOT NULL,
  reported_by     uuid NOT NULL,
  text            text NOT NULL,
  code            text,
  ticket          text,
  state           text COLLATE "C" NOT NULL DEFAULT 'FOUND' CHECK (state IN ('FOUND', 'WAITING', 'IN_REPAIR', 'REPAIRED')),
  -- Since when it is in the state, and why.
  since           timestamptz(3) NOT NULL DEFAULT now(),
  reason          text,
  version         integer NOT NULL DEFAULT 1,
  updated_by      uuid NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT now(),
  updated_at      timestamptz(3) NOT NULL DEFAULT now(),
  idempotency_key text
);
CREATE INDEX faults_of_sensor ON faults (sensor_id, found_at);
CREATE INDEX faults_open ON faults (sensor_id) WHERE state <> 'REPAIRED';
CREATE INDEX faults_by_time ON faults (found_at, id);
CREATE UNIQUE INDEX faults_open_once ON faults (sensor_id, gantry_fold(code)) WHERE state <> 'REPAIRED' AND code IS NOT NULL;
CREATE UNIQUE INDEX faults_reported_once ON faults (reported_by, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- The states that a fault went through; rows never change.
CREATE TABLE fault_changes (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  fault_id uuid NOT NULL REFERENCES faults (id) ON DELETE CASCADE,
  state    text COLLATE "C" NOT NULL,
  at       timestamptz(3) NOT NULL,
  user_id  uuid NOT NULL,
  reason   text
);
CREATE INDEX fault_changes_of_fault ON fault_changes (fault_id, id);

ALTER TABLE sensors
  ADD COLUMN make              text,
  ADD COLUMN warranty_until    date,
  -- Where its certificates are kept: words, or an https link.
  ADD COLUMN certificate_place text,
  -- The type of the event that arrived at last_event_at.
  ADD COLUMN last_event_type   text;
