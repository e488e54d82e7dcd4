-- What detectors counted in intervals. '' stands for none. Those of one sensor, direction, lane and movement do not overlap.
CREATE TABLE traffic_periods (
  sensor_id   uuid NOT NULL,
  direction   text COLLATE "C" NOT NULL,
  lane        text NOT NULL,
  -- LEG or LEG:TURN.
  movement    text COLLATE "C" NOT NULL,
  start       timestamptz NOT NULL,
  seconds     integer NOT NULL CHECK (seconds BETWEEN 10 AND 86400),
  -- Of the sensor at the start.
  location_id uuid,
  -- How often its content was replaced.
  revision    integer NOT NULL DEFAULT 0,
  -- The other fields, as in counts.ingest.
  content     jsonb NOT NULL,
  stored_at   timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (sensor_id, direction, lane, movement, start)
);
CREATE INDEX traffic_periods_by_start ON traffic_periods (sensor_id, start);

-- Former contents.
CREATE TABLE traffic_period_revisions (
  sensor_id   uuid NOT NULL,
  direction   text COLLATE "C" NOT NULL,
  lane        text NOT NULL,
  movement    text COLLATE "C" NOT NULL,
  start       timestamptz NOT NULL,
  revision    integer NOT NULL,
  content     jsonb NOT NULL,
  stored_at   timestamptz(3) NOT NULL,
  replaced_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (sensor_id, direction, lane, movement, start, revision)
);

-- Source 4: counts of intervals. They have two measures more: -4, the time that is covered, and -5, the time of the intervals,
-- in milliseconds.
ALTER TABLE traffic_bins
  DROP CONSTRAINT traffic_bins_source_check,
  ADD CONSTRAINT traffic_bins_source_check CHECK (source BETWEEN 0 AND 4);

-- Whether the sensor ever sent counts of intervals.
ALTER TABLE traffic_places ADD COLUMN periods boolean NOT NULL DEFAULT false;

-- The times of which a sensor sent every vehicle, so that silence is a zero. They do not overlap.
CREATE TABLE traffic_observed (
  sensor_id uuid NOT NULL,
  since     timestamptz NOT NULL,
  until     timestamptz NOT NULL,
  PRIMARY KEY (sensor_id, since)
);
