-- The quality of traffic data: what rules found, what people decided, and the days on which traffic is not as usual.

-- What the rules found that judge the samples and single vehicles of a sensor. The other rules follow from the counts when
-- they are read.
CREATE TABLE traffic_flags (
  sensor_id uuid NOT NULL,
  -- The start of the local day in which it was found. Judging a day again replaces the flags that were found in it.
  found_at  timestamptz NOT NULL,
  rule      text COLLATE "C" NOT NULL,
  -- '' for none.
  lane      text NOT NULL DEFAULT '',
  since     timestamptz NOT NULL,
  until     timestamptz NOT NULL,
  value     double precision NOT NULL,
  threshold double precision NOT NULL
);
CREATE INDEX traffic_flags_of_sensor ON traffic_flags (sensor_id, found_at);

-- The days (in UTC) of sensors whose counts changed since they were judged. Readers judge them themselves until then.
CREATE TABLE traffic_unjudged (
  sensor_id uuid NOT NULL,
  day       date NOT NULL,
  PRIMARY KEY (sensor_id, day)
);
CREATE INDEX traffic_unjudged_by_day ON traffic_unjudged (day);

-- The latest decision about a time holds.
CREATE TABLE traffic_reviews (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- sensor or location
  place_kind text COLLATE "C" NOT NULL,
  place_id   uuid NOT NULL,
  since      timestamptz NOT NULL,
  until      timestamptz NOT NULL CHECK (until > since),
  decision   text COLLATE "C" NOT NULL CHECK (decision IN ('ACCEPT', 'REJECT')),
  reason     text NOT NULL,
  user_id    uuid NOT NULL,
  at         timestamptz(3) NOT NULL DEFAULT now()
);
CREATE INDEX traffic_reviews_of_place ON traffic_reviews (place_id, id);

CREATE TABLE calendar_days (
  id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  date        date NOT NULL,
  kind        text COLLATE "C" NOT NULL,
  name        text NOT NULL,
  -- null: all locations.
  location_id uuid REFERENCES locations (id) ON DELETE CASCADE,
  UNIQUE NULLS NOT DISTINCT (date, kind, location_id)
);
CREATE INDEX calendar_days_of_location ON calendar_days (location_id) WHERE location_id IS NOT NULL;
