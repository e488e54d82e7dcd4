-- People, sensors, the places they stand at, and the events they report.

-- ── Settings ────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE settings (
  only_row           boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  installed_at       timestamptz(3) NOT NULL DEFAULT now(),
  timezone           text NOT NULL DEFAULT 'UTC',
  use_24_hour_format boolean NOT NULL DEFAULT true,
  date_format        text NOT NULL DEFAULT 'YYYY-MM-DD',
  first_day_of_week  smallint NOT NULL DEFAULT 1 CHECK (first_day_of_week BETWEEN 0 AND 6)
);
INSERT INTO settings DEFAULT VALUES;

-- ── People ──────────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE users (
  id            uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email         text NOT NULL UNIQUE CHECK (email = lower(email)),
  password_hash text NOT NULL,
  first_name    text NOT NULL,
  last_name     text NOT NULL,
  role          text NOT NULL CHECK (role IN ('ADMIN', 'OPERATOR', 'ANALYST', 'FIELD', 'VIEWER')),
  phone         text,
  avatar        text,
  department    text,
  is_active     boolean NOT NULL DEFAULT true,
  -- A token carries the epoch it was issued in; raising it ends every session of the user at once.
  session_epoch integer NOT NULL DEFAULT 0,
  last_login    timestamptz(3),
  created_at    timestamptz(3) NOT NULL DEFAULT now(),
  updated_at    timestamptz(3) NOT NULL DEFAULT now()
);

-- Tokens that were logged out, kept until they would have expired anyway.
CREATE TABLE revoked_tokens (
  token_id   uuid PRIMARY KEY,
  expires_at timestamptz(3) NOT NULL
);
CREATE INDEX revoked_tokens_expiry ON revoked_tokens (expires_at);

-- Who did what. It outlives the users it speaks of, so it does not refer to them by a foreign key.
CREATE TABLE activity (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id    uuid NOT NULL,
  action     text NOT NULL,
  at         timestamptz(3) NOT NULL DEFAULT now(),
  ip_address text,
  user_agent text,
  details    jsonb
);
CREATE INDEX activity_of_user ON activity (user_id, id DESC);

-- ── Places and sensors ──────────────────────────────────────────────────────────────────────────────

CREATE TABLE locations (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name        text NOT NULL,
  address     text NOT NULL DEFAULT '',
  coordinates jsonb,
  description text,
  speed_limit double precision,
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE sensors (
  id                 uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  name               text NOT NULL,
  device_id          text NOT NULL UNIQUE,
  type               text NOT NULL CHECK (type IN ('CAMERA', 'RADAR', 'ANPR', 'SPEED_DETECTOR', 'EDGE_CONTROLLER')),
  status             text NOT NULL DEFAULT 'OFFLINE' CHECK (status IN ('ONLINE', 'OFFLINE', 'MAINTENANCE', 'ERROR')),
  status_since       timestamptz(3) NOT NULL DEFAULT now(),
  api_key            text NOT NULL UNIQUE CHECK (api_key ~ '^[0-9a-f]{64}$'),
  ip_address         text,
  mac_address        text,
  firmware           text,
  coordinates        jsonb,
  events_per_min     integer NOT NULL DEFAULT 20 CHECK (events_per_min > 0),
  description        text,
  location_id        uuid REFERENCES locations (id),
  last_heartbeat     timestamptz(3),
  last_communication timestamptz(3),
  last_ping          timestamptz(3),
  created_at         timestamptz(3) NOT NULL DEFAULT now(),
  updated_at         timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX sensors_by_location ON sensors (location_id);
CREATE INDEX sensors_by_creation ON sensors (created_at, id);
CREATE INDEX sensors_online ON sensors (id) WHERE status = 'ONLINE';

CREATE TABLE sensor_status_history (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  sensor_id   uuid NOT NULL REFERENCES sensors (id) ON DELETE CASCADE,
  from_status text,
  to_status   text NOT NULL,
  at          timestamptz(3) NOT NULL DEFAULT now(),
  reason      text NOT NULL,
  changed_by  uuid
);
CREATE INDEX sensor_status_history_of_sensor ON sensor_status_history (sensor_id, id DESC);

-- ── Events ──────────────────────────────────────────────────────────────────────────────────────────

-- An event's id has the layout of a version 7 UUID; its first 48 bits are the event's own time in milliseconds.
CREATE FUNCTION event_time(id uuid) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN timestamptz '1970-01-01 00:00:00+00'
    + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint * interval '1 millisecond');

-- The day in UTC by which an event is counted in event_totals.
CREATE FUNCTION event_day(id uuid) RETURNS date
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (event_time(id) AT TIME ZONE 'UTC')::date;

CREATE TABLE events (
  id             uuid NOT NULL,
  event_type     text COLLATE "C" NOT NULL,
  violation_type text,
  vehicle_type   text,
  processed      boolean NOT NULL DEFAULT false,
  archived       boolean NOT NULL DEFAULT false,
  -- 1 LOW … 4 CRITICAL, so that severity sorts by rank.
  severity       smallint,
  sensor_id      uuid,
  sensor_name    text,
  location_id    uuid,
  location_name  text,
  plate          text,
  -- The plate as it is searched: upper case, without blanks and hyphens.
  plate_key      text COLLATE "C",
  vehicle_speed  double precision,
  created_at     timestamptz(3) NOT NULL DEFAULT now(),
  description    text,
  location       jsonb,
  metadata       jsonb,
  images         jsonb,
  tags           jsonb,
  processed_at   timestamptz(3),
  processed_by   uuid,
  archived_at    timestamptz(3),
  archived_by    uuid,
  -- Only for events with an idempotency key: tells a retry from other content under the same key.
  content_hash   uuid,
  PRIMARY KEY (id)
) PARTITION BY RANGE (id);

CREATE INDEX events_by_sensor ON events (sensor_id, id);
CREATE INDEX events_by_type ON events (event_type, id);
CREATE INDEX events_by_creation ON events (created_at, id);
CREATE INDEX events_by_severity ON events (severity, id);
CREATE INDEX events_by_violation ON events (lower(violation_type), id) WHERE violation_type IS NOT NULL;
CREATE INDEX events_by_vehicle ON events (lower(vehicle_type), id) WHERE vehicle_type IS NOT NULL;
CREATE INDEX events_by_location ON events (lower(location_name), id) WHERE location_name IS NOT NULL;
CREATE INDEX events_by_plate ON events (plate_key, id) WHERE plate_key IS NOT NULL;

-- Counts of events, kept by the statements that insert, mark and delete them. '' stands for "none".
CREATE TABLE event_totals (
  day            date NOT NULL,
  event_type     text COLLATE "C" NOT NULL,
  violation_type text NOT NULL,
  vehicle_type   text NOT NULL,
  processed      boolean NOT NULL,
  archived       boolean NOT NULL,
  n              bigint NOT NULL,
  PRIMARY KEY (day, event_type, violation_type, vehicle_type, processed, archived)
) WITH (fillfactor = 50);
