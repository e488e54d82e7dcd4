-- Counts at every size. Whoever inserts, marks or deletes events adds rows to event_totals and waits for nobody. Now
-- and then these are folded: what has the same key becomes one row, and days, months and years get their sums
-- (events/fold-totals.ts). At every moment the sum of n in event_totals is the number of events.

-- The hour in UTC by which an event is counted.
CREATE FUNCTION event_hour(id uuid) RETURNS timestamptz
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN timestamptz '1970-01-01 00:00:00+00'
    + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 3600000) * interval '1 hour';

DROP TABLE event_totals;
DROP FUNCTION event_day(uuid);

-- '' and 0 stand for "none".
CREATE TABLE event_totals (
  hour           timestamptz NOT NULL,
  event_type     text COLLATE "C" NOT NULL,
  violation_type text NOT NULL,
  vehicle_type   text NOT NULL,
  severity       smallint NOT NULL,
  processed      boolean NOT NULL DEFAULT false,
  archived       boolean NOT NULL DEFAULT false,
  n              bigint NOT NULL,
  -- Whether it is the one row of its key, and counted in event_period_totals.
  folded         boolean NOT NULL DEFAULT false
) PARTITION BY LIST (folded);

-- What is not folded comes and goes by thousands a second. It is few rows at any time, so it has no index and is read
-- whole; and it lies apart, so that clearing up after it does not cost more the longer the history is.
CREATE TABLE event_totals_unfolded PARTITION OF event_totals FOR VALUES IN (false)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false);
CREATE TABLE event_totals_folded PARTITION OF event_totals (
  PRIMARY KEY (hour, event_type, violation_type, vehicle_type, severity, processed, archived)
) FOR VALUES IN (true) WITH (fillfactor = 70);

-- What is folded, for longer periods.
CREATE TABLE event_period_totals (
  period         text COLLATE "C" NOT NULL CHECK (period IN ('day', 'month', 'year')),
  -- Its first day, in UTC.
  start          date NOT NULL,
  event_type     text COLLATE "C" NOT NULL,
  violation_type text NOT NULL,
  vehicle_type   text NOT NULL,
  severity       smallint NOT NULL,
  processed      boolean NOT NULL,
  archived       boolean NOT NULL,
  n              bigint NOT NULL,
  PRIMARY KEY (period, start, event_type, violation_type, vehicle_type, severity, processed, archived)
) WITH (fillfactor = 70);

-- When events arrived: hours of events.created_at, which may differ much from the hours of the events themselves.
CREATE TABLE event_arrivals (
  hour   timestamptz NOT NULL,
  n      bigint NOT NULL,
  folded boolean NOT NULL DEFAULT false
) PARTITION BY LIST (folded);
CREATE TABLE event_arrivals_unfolded PARTITION OF event_arrivals FOR VALUES IN (false)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0,
    vacuum_truncate = false);
CREATE TABLE event_arrivals_folded PARTITION OF event_arrivals (PRIMARY KEY (hour))
  FOR VALUES IN (true) WITH (fillfactor = 70);

-- What is there already counts too.
INSERT INTO event_totals_folded (hour, event_type, violation_type, vehicle_type, severity, processed, archived, n, folded)
  SELECT event_hour(id), event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), coalesce(severity, 0),
    processed, archived, count(*), true
  FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7;
INSERT INTO event_period_totals
  SELECT period, date_trunc(period, hour AT TIME ZONE 'UTC')::date, event_type, violation_type, vehicle_type, severity,
    processed, archived, sum(n)
  FROM event_totals_folded CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS longer (period)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
INSERT INTO event_arrivals_folded (hour, n, folded)
  SELECT date_trunc('hour', created_at, 'UTC'), count(*), true FROM events GROUP BY 1;

-- Indexes are what storing events costs most, so there are those that the totals cannot replace. A vehicle type, and the
-- severities below HIGH, are found by the hours that the totals say they are in.
DROP INDEX events_by_vehicle;
DROP INDEX events_by_severity;
CREATE INDEX events_by_severity ON events (severity, id) WHERE severity >= 3;
CREATE INDEX events_unprocessed ON events (id) WHERE NOT processed;
CREATE INDEX events_archived ON events (id) WHERE archived;
-- For plates of which only the end is known. With the plate in it, because an expression alone does not spare the visit of
-- every row that is counted.
CREATE INDEX events_by_plate_end ON events (reverse(plate_key), id) INCLUDE (plate_key) WHERE plate_key IS NOT NULL;
-- The name as it is searched. A column, because counting by an expression would visit every row.
DROP INDEX events_by_location;
ALTER TABLE events ADD COLUMN location_key text COLLATE "C" GENERATED ALWAYS AS (lower(location_name)) STORED;
CREATE INDEX events_by_location ON events (location_key, id) WHERE location_key IS NOT NULL;
