-- Who is told of alarms, in which order. A step: {"afterMinutes": n, "to": [{"userId" | "rotaId" | "channelId": id}], "whileNot": text}.
CREATE TABLE policies (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name             text NOT NULL,
  steps            jsonb NOT NULL,
  group_wait_s     integer NOT NULL CHECK (group_wait_s >= 0),
  group_interval_s integer NOT NULL CHECK (group_interval_s > 0),
  repeat_minutes   integer NOT NULL CHECK (repeat_minutes > 0),
  notify_clear     boolean NOT NULL,
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now()
);

-- The rules of alarms. Conditions, scopes, clear and hours are as in the API.
CREATE TABLE alarm_rules (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name        text NOT NULL,
  enabled     boolean NOT NULL,
  source      text COLLATE "C" NOT NULL,
  condition   jsonb NOT NULL,
  scope       jsonb NOT NULL DEFAULT '{"locationIds": [], "sensorIds": [], "sensorTypes": []}',
  severity    smallint NOT NULL CHECK (severity BETWEEN 1 AND 4),
  for_seconds integer NOT NULL CHECK (for_seconds BETWEEN 0 AND 86400),
  clear       jsonb,
  no_data     text COLLATE "C" NOT NULL DEFAULT 'KEEP' CHECK (no_data IN ('KEEP', 'CLEAR', 'ALARM')),
  hours       jsonb,
  group_by    text[] NOT NULL DEFAULT '{RULE}',
  policy_id   uuid REFERENCES policies (id),
  runbook     text,
  -- Null for a rule that came with Gantry.
  created_by  uuid,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX alarm_rules_of_policy ON alarm_rules (policy_id) WHERE policy_id IS NOT NULL;

-- Alarms that are told together. One with the key 'storm' stands for all alarms of its policy while there are too many.
CREATE TABLE alarm_groups (
  id           uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  policy_id    uuid NOT NULL,
  group_key    text COLLATE "C" NOT NULL,
  opened_at    timestamptz(3) NOT NULL,
  next_at      timestamptz(3) NOT NULL,
  closed_at    timestamptz(3),
  -- The number of steps of the policy that were taken.
  step         smallint NOT NULL DEFAULT 0,
  first_told_at timestamptz(3),
  told_at      timestamptz(3),
  -- The alarms, by rule and key, that were firing and that had ended in the latest message.
  told_firing  text[] NOT NULL DEFAULT '{}',
  told_cleared text[] NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX alarm_groups_open ON alarm_groups (policy_id, group_key) WHERE closed_at IS NULL;
CREATE INDEX alarm_groups_closed ON alarm_groups (closed_at) WHERE closed_at IS NOT NULL;

CREATE TABLE alarms (
  id              uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The rule, which may be deleted since, and what it was.
  rule_id         uuid NOT NULL,
  rule_name       text NOT NULL,
  source          text COLLATE "C" NOT NULL,
  severity        smallint NOT NULL CHECK (severity BETWEEN 1 AND 4),
  -- What the rule found wrong: one of its sensors, places, incidents …
  key             text COLLATE "C" NOT NULL,
  state           text COLLATE "C" NOT NULL CHECK (state IN ('PENDING', 'FIRING', 'CLEARED')),
  since           timestamptz(3) NOT NULL,
  fired_at        timestamptz(3),
  cleared_at      timestamptz(3),
  cleared_because text COLLATE "C",
  -- The state machine of alarms/step.ts.
  machine         jsonb NOT NULL,
  value           double precision,
  worst           double precision,
  flaps           integer NOT NULL DEFAULT 0,
  is_flapping     boolean NOT NULL DEFAULT false,
  text            text NOT NULL,
  place           text,
  sensor_id       uuid,
  location_id     uuid,
  incident_id     uuid,
  alert_id        uuid,
  plate           text,
  acknowledged_at timestamptz(3),
  acknowledged_by uuid,
  note            text,
  group_id        uuid,
  -- Whether the end was told, or need not be.
  is_settled      boolean NOT NULL DEFAULT false,
  silenced_by     uuid,
  inhibited_by    text COLLATE "C",
  inhibiting_id   uuid,
  CHECK ((state = 'CLEARED') = (cleared_at IS NOT NULL)),
  CHECK (state = 'PENDING' OR fired_at IS NOT NULL)
);
CREATE UNIQUE INDEX alarms_open ON alarms (rule_id, key) WHERE state <> 'CLEARED';
CREATE INDEX alarms_by_firing ON alarms (fired_at, id) WHERE fired_at IS NOT NULL;
CREATE INDEX alarms_cleared ON alarms (cleared_at) WHERE cleared_at IS NOT NULL;
CREATE INDEX alarms_unsettled ON alarms (group_id) WHERE state = 'CLEARED' AND NOT is_settled;

-- Alarms of which nobody is told: those that match all matchers, [{"label": text, "values": [text]}].
CREATE TABLE silences (
  id         uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  matchers   jsonb NOT NULL,
  starts_at  timestamptz(3) NOT NULL,
  ends_at    timestamptz(3) NOT NULL,
  reason     text NOT NULL,
  user_id    uuid NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CHECK (ends_at > starts_at)
);
CREATE INDEX silences_by_end ON silences (ends_at);

-- When rules were last evaluated, by any process, and up to which minute those that are evaluated by minutes.
CREATE TABLE alarm_evaluation (
  only_row     boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  evaluated_at timestamptz(3),
  minute_at    timestamptz(3)
);
INSERT INTO alarm_evaluation DEFAULT VALUES;

-- The rules to start with. Nobody is told of their alarms before an administrator names a policy and enables them.
INSERT INTO alarm_rules (name, enabled, source, condition, severity, for_seconds, group_by) VALUES
  ('Sensor offline', false, 'SENSOR_STATUS',
    '{"source": "SENSOR_STATUS", "statuses": ["OFFLINE", "ERROR"], "of": "SENSOR"}', 2, 900, '{RULE}'),
  ('Place without any sensor', false, 'SENSOR_STATUS',
    '{"source": "SENSOR_STATUS", "statuses": ["OFFLINE", "ERROR"], "of": "PLACE"}', 3, 300, '{RULE}'),
  ('Critical incident not acknowledged', false, 'INCIDENT_UNATTENDED',
    '{"source": "INCIDENT_UNATTENDED", "minSeverity": "CRITICAL", "types": [], "lacking": "ACKNOWLEDGEMENT"}', 4, 300, '{RULE}'),
  ('Backup too old', false, 'SYSTEM', '{"source": "SYSTEM", "part": "BACKUP", "threshold": 36}', 3, 0, '{RULE}'),
  ('Disk nearly full', false, 'SYSTEM', '{"source": "SYSTEM", "part": "DISK", "threshold": 10}', 3, 300, '{RULE}');
