-- Events count as signs of life of a sensor. Both columns have constant defaults, so that the table is not rewritten.
ALTER TABLE sensors
  -- When the sensor's last accepted event arrived; written every two seconds. Times of heartbeats are in last_heartbeat.
  ADD COLUMN last_event_at       timestamptz(3),
  -- Whether only heartbeats affect the status.
  ADD COLUMN requires_heartbeats boolean NOT NULL DEFAULT false;

-- Since when silent sensors have been looked for without interruption. After downtime no sensor is called silent
-- until a whole time-out has passed, because nobody could receive what the sensors sent.
CREATE TABLE sensor_watch (
  only_row      boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  watched_since timestamptz NOT NULL,
  looked_at     timestamptz NOT NULL
);
