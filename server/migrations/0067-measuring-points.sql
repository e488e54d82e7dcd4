-- The cross-sections at which traffic is counted. A location without any has one point, of both directions.
CREATE TABLE measuring_points (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  location_id uuid NOT NULL REFERENCES locations (id) ON DELETE CASCADE,
  name        text NOT NULL,
  -- NB, …, CCW, or BOTH.
  direction   text COLLATE "C" NOT NULL,
  bearing     smallint CHECK (bearing BETWEEN 0 AND 359),
  lanes       smallint CHECK (lanes BETWEEN 1 AND 12),
  facility    text COLLATE "C" NOT NULL,
  road_class  text,
  setting     text COLLATE "C",
  -- null: always.
  valid_from  timestamptz(3),
  valid_until timestamptz(3) CHECK (valid_until > valid_from),
  created_at  timestamptz(3) NOT NULL DEFAULT now(),
  updated_at  timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX measuring_points_of_location ON measuring_points (location_id);

-- Which channel of a sensor counts for which point. That no two count the same is checked under a lock: a lane and all lanes
-- of a point exclude each other, which a constraint cannot say. Those of a deleted sensor stay, because its counts do.
CREATE TABLE detector_assignments (
  id               uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  point_id         uuid NOT NULL REFERENCES measuring_points (id) ON DELETE CASCADE,
  sensor_id        uuid NOT NULL,
  -- The direction, lane and movement as sent, or a name that is one of them. {}: everything.
  channel          jsonb NOT NULL,
  -- null: as sent. The movement is LEG or LEG:TURN.
  lane             text,
  movement         text COLLATE "C",
  role             text COLLATE "C" NOT NULL,
  -- null: what the sensor would count without an assignment.
  counted_types    text[],
  -- Degrees.
  correction_angle double precision NOT NULL DEFAULT 0 CHECK (correction_angle BETWEEN 0 AND 80),
  -- KMH or MPH; null: not known.
  speed_unit       text COLLATE "C",
  -- null: always.
  valid_from       timestamptz(3),
  valid_until      timestamptz(3) CHECK (valid_until > valid_from),
  created_at       timestamptz(3) NOT NULL DEFAULT now(),
  updated_at       timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX detector_assignments_of_point ON detector_assignments (point_id);
CREATE INDEX detector_assignments_of_sensor ON detector_assignments (sensor_id);

-- When a past value was entered, or until when it held. What was recorded between `since` and then may have another one.
ALTER TABLE sensor_places ADD COLUMN entered_at timestamptz;
ALTER TABLE location_limits ADD COLUMN entered_at timestamptz;
CREATE INDEX sensor_places_entered ON sensor_places (sensor_id) WHERE entered_at IS NOT NULL;

-- The type of the events if it is not the usual one of their source: VEHICLE_DETECTION, PLATE_RECOGNITION. So an assignment
-- can say which types stand for a passage, without further rows.
ALTER TABLE traffic_cells
  ADD COLUMN event_type text COLLATE "C" NOT NULL DEFAULT '',
  DROP CONSTRAINT traffic_cells_vehicle_type_vehicle_class_direction_lane_mov_key,
  ADD UNIQUE (vehicle_type, vehicle_class, direction, lane, movement, event_type);
