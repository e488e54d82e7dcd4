-- How far the clock of each sensor is off, judged by its latest reports, and how many of its times could not be used.
CREATE TABLE sensor_clocks (
  sensor_id      uuid PRIMARY KEY,
  -- When the latest reports arrived, in Unix milliseconds, and how long before that their events happened, in milliseconds.
  arrivals       bigint[] NOT NULL,
  lags           bigint[] NOT NULL,
  -- What follows from them; null until it has been judged.
  state          text,
  hint           text,
  offset_ms      bigint,
  -- Events that have the time of receipt, because the time that the sensor reported could not be used.
  unusable_times bigint NOT NULL DEFAULT 0,
  unusable_at    timestamptz(3)
);
