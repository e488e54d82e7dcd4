-- Traffic: how many vehicles passed and how quickly, at every size. Whoever stores or removes events adds to
-- traffic_unfolded and waits for nobody; now and then that is folded into traffic_rollups (traffic/fold-traffic.ts).
-- At every moment the sum of both is what events says.

-- One row for a commit group, with what its events say at the same places of the arrays. It is few rows at any time.
CREATE TABLE traffic_unfolded (
  event_ids     uuid[] NOT NULL,
  event_types   text[] NOT NULL,
  sensor_ids    uuid[] NOT NULL,
  location_ids  uuid[] NOT NULL,
  vehicle_types text[] NOT NULL,
  -- km/h
  speeds        double precision[] NOT NULL,
  -- −1 when the events were removed.
  sign          smallint NOT NULL DEFAULT 1 CHECK (sign IN (-1, 1)),
  -- The ends of event_ids, so that who asks for other days need not look into it; null: not known.
  first_id      uuid,
  last_id       uuid
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, vacuum_truncate = false);
-- It is gone within seconds, so it is not worth being compressed.
ALTER TABLE traffic_unfolded
  ALTER COLUMN event_ids SET STORAGE EXTERNAL,
  ALTER COLUMN event_types SET STORAGE EXTERNAL,
  ALTER COLUMN sensor_ids SET STORAGE EXTERNAL,
  ALTER COLUMN location_ids SET STORAGE EXTERNAL,
  ALTER COLUMN vehicle_types SET STORAGE EXTERNAL,
  ALTER COLUMN speeds SET STORAGE EXTERNAL;

CREATE TABLE traffic_rollups (
  -- How long the slot is. 1 only for locations and the last minutes; the others for everything.
  minutes      smallint NOT NULL CHECK (minutes IN (1, 5, 15, 60, 1440)),
  -- A sensor, or the location that the event has.
  place_id     uuid NOT NULL,
  -- Its start, in UTC.
  slot         timestamptz NOT NULL,
  -- '': events without one; null: all vehicles together.
  vehicle_type text COLLATE "C",
  -- Vehicles: every event but those of type INCIDENT is one that passed.
  n            bigint NOT NULL,
  -- All events.
  events       bigint NOT NULL DEFAULT 0,
  -- How many of them have a speed, and the sum of these in metres per hour.
  measured     bigint NOT NULL,
  speed_sum    bigint NOT NULL,
  -- The histogram of speeds: bin b holds those above b − 1 and up to b km/h.
  bins         smallint[] NOT NULL DEFAULT '{}',
  counts       integer[] NOT NULL DEFAULT '{}',
  -- In which of its twelfths there was an event, for slots of an hour: bit 0 is the first. It stays when the event goes.
  alive        smallint NOT NULL DEFAULT 0,
  UNIQUE NULLS NOT DISTINCT (minutes, place_id, slot, vehicle_type)
) WITH (fillfactor = 70);

-- Where sensors saw anything, and from when to when. Without a location they stand for themselves.
CREATE TABLE traffic_places (
  location_id uuid NOT NULL,
  sensor_id   uuid NOT NULL,
  first_slot  timestamptz NOT NULL,
  last_slot   timestamptz NOT NULL,
  PRIMARY KEY (location_id, sensor_id)
);
CREATE INDEX traffic_places_of_sensor ON traffic_places (sensor_id);

-- What is there already counts too.
INSERT INTO traffic_places
  SELECT coalesce(location_id, sensor_id), sensor_id, min(slot), max(slot)
  FROM (
    SELECT location_id, sensor_id, date_bin('5 minutes', event_time(id), '2000-01-01 00:00Z') AS slot FROM events
  ) AS passed
  WHERE sensor_id IS NOT NULL GROUP BY 1, 2;
WITH passed AS (
  SELECT date_bin('5 minutes', event_time(id), '2000-01-01 00:00Z') AS slot, sensor_id, location_id,
    coalesce(vehicle_type, '') AS vehicle_type, ((speed + 999) / 1000)::smallint AS bin,
    count(*) FILTER (WHERE event_type <> 'INCIDENT') AS n, count(*) AS events, coalesce(sum(speed), 0)::bigint AS speed_sum
  FROM (
    SELECT *, CASE WHEN event_type <> 'INCIDENT' THEN round(vehicle_speed * 1000)::bigint END AS speed FROM events
  ) AS measured GROUP BY 1, 2, 3, 4, 5
), spread AS (
  SELECT minutes, place_id, date_bin(make_interval(mins => minutes), slot, '2000-01-01 00:00Z') AS slot,
    CASE WHEN own THEN vehicle_type END AS vehicle_type, bin, sum(n) AS n, sum(events) AS events, sum(speed_sum) AS speed_sum,
    bit_or(CASE minutes WHEN 60 THEN 1 << (extract(minute FROM slot AT TIME ZONE 'UTC')::int / 5) ELSE 0 END) AS alive
  FROM passed CROSS JOIN (VALUES (5), (15), (60), (1440)) AS level (minutes) CROSS JOIN (VALUES (true), (false)) AS kind (own)
    CROSS JOIN LATERAL (VALUES (sensor_id), (location_id)) AS place (place_id)
  WHERE place_id IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5
)
INSERT INTO traffic_rollups (minutes, place_id, slot, vehicle_type, n, events, measured, speed_sum, bins, counts, alive)
  SELECT minutes, place_id, slot, vehicle_type, sum(n), sum(events), coalesce(sum(n) FILTER (WHERE bin IS NOT NULL), 0),
    sum(speed_sum), coalesce(array_agg(bin ORDER BY bin) FILTER (WHERE bin IS NOT NULL), '{}'),
    coalesce(array_agg(n::int ORDER BY bin) FILTER (WHERE bin IS NOT NULL), '{}'), bit_or(alive)::smallint
  FROM spread GROUP BY 1, 2, 3, 4;

-- When people dealt with events, for how long that takes. It costs nothing to store an event: none is processed yet.
CREATE INDEX events_by_processing ON events (processed_at, created_at) WHERE processed_at IS NOT NULL;
