-- Counts of traffic outlive the events they count, and are a class of retention of their own. What was true of places and
-- limits when an event happened is kept, so that a late event is booked and judged by it.

-- ── Retention of counts ─────────────────────────────────────────────────────────────────────────────

-- Days; null: for ever.
ALTER TABLE retention_settings ADD COLUMN traffic_days integer;

ALTER TABLE retention_removals DROP CONSTRAINT retention_removals_class_check;
ALTER TABLE retention_removals ADD CONSTRAINT retention_removals_class_check
  CHECK (class IN ('events', 'images', 'reports', 'activity', 'traffic'));

-- Of events: those of the month before this moment were due. Counts of what is stored say nothing of that time.
ALTER TABLE retention_removals ADD COLUMN until timestamptz;

-- Runs before this migration did not note it. The rules in force are taken for those of the past.
UPDATE retention_removals SET until = CASE
  WHEN whole THEN (month + interval '1 month') AT TIME ZONE 'UTC'
  ELSE greatest((month + interval '1 day') AT TIME ZONE 'UTC', least((month + interval '1 month') AT TIME ZONE 'UTC', (
    SELECT date_trunc('day', started_at, 'UTC') - make_interval(hours => 24 * coalesce((
      SELECT min(days) FROM retention_settings, LATERAL (
        SELECT events_days AS days UNION ALL SELECT value::integer FROM jsonb_each_text(events_by_type)
      ) AS rules
    ), 0))
    FROM retention_runs WHERE retention_runs.id = run_id
  ))) END
WHERE class = 'events';

-- Traffic before this moment is not known (any more): its counts were removed, or are about to be. Not counted from then on.
CREATE TABLE traffic_kept (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  since    timestamptz NOT NULL DEFAULT '-infinity'
);

-- Until now events that retention removed took their counts with them, which left zeros.
INSERT INTO traffic_kept (since)
SELECT coalesce(max(until), '-infinity') FROM retention_removals WHERE class = 'events';

-- ── Where sensors stood, and which limits held ──────────────────────────────────────────────────────

-- The location (null: none) of a sensor from a moment on. One that never moved has no row: it always stood where it stands.
-- No foreign keys: these are ordinary tables of the coordinator of a cluster.
CREATE TABLE sensor_places (
  sensor_id   uuid NOT NULL,
  since       timestamptz NOT NULL,
  location_id uuid,
  PRIMARY KEY (sensor_id, since)
);

-- The speed limit of a location (km/h; null: none is known) from a moment on, in the same way. It stays when the location goes.
CREATE TABLE location_limits (
  location_id uuid NOT NULL,
  since       timestamptz NOT NULL,
  speed_limit double precision,
  PRIMARY KEY (location_id, since)
);