-- What is recorded while an incident is worked on. There is a row once something was.
CREATE TABLE incident_work (
  incident_id      uuid PRIMARY KEY REFERENCES incidents (id) ON DELETE CASCADE,
  -- The times that people have set, by name: {"verifiedAt": "2026-01-31T08:15:00.000Z"}. They precede derived ones.
  times_set        jsonb NOT NULL DEFAULT '{}',
  -- T0 and T2 to T7, set or derived, in order; T1 is incidents.opened_at.
  occurred_at      timestamptz(3),
  verified_at      timestamptz(3),
  dispatched_at    timestamptz(3),
  arrived_at       timestamptz(3),
  lanes_open_at    timestamptz(3),
  last_left_at     timestamptz(3),
  normal_at        timestamptz(3),
  is_false_alarm   boolean NOT NULL DEFAULT false,
  injured          text COLLATE "C" CHECK (injured IN ('NONE', 'MINOR', 'SERIOUS', 'FATAL')),
  hazardous        boolean,
  heavy_vehicle    boolean,
  responder_struck boolean,
  secondary_of     uuid REFERENCES incidents (id) ON DELETE SET NULL
);
CREATE INDEX incident_work_by_primary ON incident_work (secondary_of) WHERE secondary_of IS NOT NULL;

-- How the lanes of a carriageway were, from `at` on. Rows are only added.
CREATE TABLE lane_states (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  incident_id uuid NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  at          timestamptz(3) NOT NULL,
  user_id     uuid NOT NULL,
  -- NB, …, BOTH.
  direction   text COLLATE "C" NOT NULL,
  -- OPEN, CLOSED, SHIFTED or UNKNOWN, from the median to the outside.
  lanes       text[] NOT NULL CHECK (cardinality(lanes) BETWEEN 1 AND 12),
  shoulder    text COLLATE "C"
);
CREATE INDEX lane_states_of_incident ON lane_states (incident_id, id);
