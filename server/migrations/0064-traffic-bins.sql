-- One row for each sensor, source and slot, so that a vehicle is counted once, and with its direction and lane. Rows of
-- traffic_rollups are replaced day by day while the service runs (traffic/recount-store.ts); until then, readers add both.

-- Kinds of vehicles, to which packed counts refer. '' stands for none.
CREATE TABLE traffic_cells (
  id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- As the device sent it.
  vehicle_type text COLLATE "C" NOT NULL,
  direction    text COLLATE "C" NOT NULL,
  lane         text COLLATE "C" NOT NULL,
  -- Not pedestrians and bicycles, which are not in the volume.
  is_motor     boolean NOT NULL,
  UNIQUE (vehicle_type, direction, lane)
);

CREATE TABLE traffic_bins (
  -- The length of the slot. 1 only for the last minutes.
  minutes     smallint NOT NULL CHECK (minutes IN (1, 5, 15, 60, 1440)),
  -- 00000000-0000-0000-0000-000000000000 for events without a sensor.
  sensor_id   uuid NOT NULL,
  -- The location that the events have.
  location_id uuid,
  -- What the sensor reported: 1 detections, 2 plates, 3 other events. 0: counts from before this table, of events of all
  -- types; they are those of a sensor or of a location, whose id is in both columns.
  source      smallint NOT NULL CHECK (source BETWEEN 0 AND 3),
  -- Its start, in UTC.
  slot        timestamptz NOT NULL,
  -- All events, including those of type INCIDENT, which are no vehicles.
  events      bigint NOT NULL,
  -- The motor vehicles among the sums, those with a plausible speed, and the sum of their speeds (metres per hour), so that
  -- volumes and means are read without the arrays.
  vehicles    bigint NOT NULL DEFAULT 0,
  measured    bigint NOT NULL DEFAULT 0,
  speed_sum   bigint NOT NULL DEFAULT 0,
  -- The twelfths of a slot of an hour in which there was an event: bit 0 is the first. It outlasts the event.
  alive       smallint NOT NULL DEFAULT 0,
  -- The first and the last event; they outlast the events. null if not known.
  first_at    timestamptz,
  last_at     timestamptz,
  -- Parallel arrays of sums, in the order of their cells (traffic_cells) and measures. Measures: from 1 to 250, the
  -- vehicles faster than that minus 1 km/h and up to it; -1, those without a plausible speed; -2, the sum of the speeds
  -- in metres per hour; -3, the sum of their squares in (0.01 km/h)². Zeros are left out.
  cells       integer[] NOT NULL DEFAULT '{}',
  measures    smallint[] NOT NULL DEFAULT '{}',
  sums        bigint[] NOT NULL DEFAULT '{}',
  UNIQUE NULLS NOT DISTINCT (minutes, sensor_id, slot, location_id, source)
) WITH (fillfactor = 70);
CREATE INDEX traffic_bins_of_location ON traffic_bins (minutes, location_id, slot) WHERE location_id IS NOT NULL;
ALTER TABLE traffic_bins
  ALTER COLUMN cells SET STATISTICS 0,
  ALTER COLUMN measures SET STATISTICS 0,
  ALTER COLUMN sums SET STATISTICS 0;

-- null: no event of the group has one.
ALTER TABLE traffic_unfolded
  ADD COLUMN directions text[],
  ADD COLUMN lanes text[],
  ALTER COLUMN directions SET STORAGE EXTERNAL,
  ALTER COLUMN lanes SET STORAGE EXTERNAL,
  ALTER COLUMN directions SET STATISTICS 0,
  ALTER COLUMN lanes SET STATISTICS 0;

-- Whether the sensor ever sent a detection there, and whether it ever sent a plate; `earlier` if that is not known,
-- because it was counted before.
ALTER TABLE traffic_places
  ADD COLUMN detections boolean NOT NULL DEFAULT false,
  ADD COLUMN plates boolean NOT NULL DEFAULT false,
  ADD COLUMN earlier boolean NOT NULL DEFAULT false;
UPDATE traffic_places SET earlier = true;

-- The type of a deleted sensor.
ALTER TABLE sensor_places ADD COLUMN sensor_type text;

-- The end of the last day (in UTC) whose counts are still in traffic_rollups; null if none are.
ALTER TABLE traffic_kept ADD COLUMN unconverted_until timestamptz;
UPDATE traffic_kept SET unconverted_until =
  (SELECT date_trunc('day', max(last_slot), 'UTC') + interval '1 day' FROM traffic_places);
INSERT INTO traffic_cells (vehicle_type, direction, lane, is_motor)
  SELECT vehicle_type, '', '', gantry_fold(vehicle_type) NOT IN ('pedestrian', 'person', 'cyclist', 'bicycle') FROM (
    SELECT vehicle_type FROM traffic_rollups WHERE minutes = 1440 AND vehicle_type IS NOT NULL
    UNION SELECT vehicle_type FROM event_totals
    UNION SELECT vehicle_type FROM event_period_totals
  ) AS types;
-- Processes of an older version count no more: an INSERT with ON CONFLICT is refused for a table with a rule for UPDATE, and
-- what they cannot add stays in traffic_unfolded for those of this version. Unlike a constraint, a rule does not stop
-- COPY, which restores.
CREATE RULE traffic_rollups_are_replaced AS ON UPDATE TO traffic_rollups DO ALSO NOTHING;
