-- Figures that are read quickly.

-- The sums of slots longer than five minutes without the bins of speeds, so that counts by direction, lane and class are read
-- without them: parallel arrays like those beside them, in which the measure 1 stands for all vehicles with a speed, and sums of
-- squares are left out. null: not known, as of rows from before this migration.
ALTER TABLE traffic_bins
  ADD COLUMN brief_cells integer[],
  ADD COLUMN brief_measures smallint[],
  ADD COLUMN brief_sums bigint[],
  ALTER COLUMN brief_cells SET STATISTICS 0,
  ALTER COLUMN brief_measures SET STATISTICS 0,
  ALTER COLUMN brief_sums SET STATISTICS 0;

-- The hours of local years that are over, as far as annual figures need them. A row is right while no change concerns it
-- (traffic/years.ts); otherwise, and without a row, figures are computed from the counts.
CREATE TABLE traffic_years (
  place_id    uuid NOT NULL,
  year        smallint NOT NULL,
  -- location or point
  place_kind  text COLLATE "C" NOT NULL,
  timezone    text COLLATE "C" NOT NULL,
  -- Which version of the rules it was computed by.
  rules       integer NOT NULL,
  since       timestamptz NOT NULL,
  until       timestamptz NOT NULL,
  -- The place, its location, its points and all sensors that ever counted there.
  concerns    uuid[] NOT NULL,
  -- For each month, its average daily traffic (FHWA); null where an hour of the week is not known.
  means       double precision[] NOT NULL,
  -- For each month and weekday, vehicles on complete days and the number of these days.
  day_sums    bigint[] NOT NULL,
  days        smallint[] NOT NULL,
  -- For each month and hour of the week, vehicles in usable hours and the number of these hours.
  hour_sums   bigint[] NOT NULL,
  hours       smallint[] NOT NULL,
  -- The busiest hours.
  top_starts  timestamptz[] NOT NULL,
  top_volumes bigint[] NOT NULL,
  valid_ms    bigint NOT NULL,
  PRIMARY KEY (place_id, year)
);
ALTER TABLE traffic_years
  ALTER COLUMN hour_sums SET STATISTICS 0,
  ALTER COLUMN hours SET STATISTICS 0,
  ALTER COLUMN top_starts SET STATISTICS 0,
  ALTER COLUMN top_volumes SET STATISTICS 0;

-- What changed of the past, written in the transaction that changed it, until the years that it concerns are removed.
CREATE TABLE traffic_year_changes (
  -- A sensor, location or point; null for everything.
  concern uuid,
  since   timestamptz NOT NULL,
  until   timestamptz NOT NULL
);

-- Notes what a row concerns: its columns named in the first argument (none: everything), for the time between the columns named in the
-- second and the third (none: all of time). Years are stored some days after they are over, so the last hours concern none.
CREATE FUNCTION note_traffic_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  changed jsonb;
BEGIN
  -- Restored together with what was noted.
  IF current_setting('gantry.restoring', true) = 'on' THEN
    RETURN NULL;
  END IF;
  FOREACH changed IN ARRAY ARRAY[
    CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END, CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END]
  LOOP
    INSERT INTO traffic_year_changes (concern, since, until)
    SELECT concern, since, until FROM (
      SELECT (changed ->> name)::uuid AS concern, coalesce((changed ->> TG_ARGV[1])::timestamptz, '-infinity') AS since,
        coalesce((changed ->> TG_ARGV[2])::timestamptz, 'infinity') AS until
      FROM unnest(string_to_array(coalesce(nullif(TG_ARGV[0], ''), '-'), ',')) AS name
    ) AS one
    WHERE changed IS NOT NULL AND since < now() - interval '3 hours' AND (concern IS NOT NULL OR TG_ARGV[0] = '');
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER note_traffic_change AFTER INSERT OR DELETE ON sensors
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('id,location_id', '', '');
CREATE TRIGGER note_traffic_change_of_place AFTER UPDATE ON sensors FOR EACH ROW
  WHEN ((OLD.type, OLD.location_id, OLD.created_at, OLD.requires_heartbeats)
    IS DISTINCT FROM (NEW.type, NEW.location_id, NEW.created_at, NEW.requires_heartbeats))
  EXECUTE FUNCTION note_traffic_change('id,location_id', '', '');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON sensor_places
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('sensor_id,location_id', '', '');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON sensor_status_history
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('sensor_id', 'at', '');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON sensor_watch_gaps
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('', 'since', 'until');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON measuring_points
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('id,location_id', '', '');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON detector_assignments
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('sensor_id,point_id', '', '');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON traffic_reviews
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('place_id', 'since', 'until');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON traffic_flags
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('sensor_id', 'since', 'until');
CREATE TRIGGER note_traffic_change AFTER INSERT OR UPDATE OR DELETE ON calendar_days
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('', 'date', '');
CREATE TRIGGER note_traffic_change AFTER INSERT OR DELETE ON traffic_places
  FOR EACH ROW EXECUTE FUNCTION note_traffic_change('sensor_id,location_id', '', '');
CREATE TRIGGER note_traffic_change_of_kind AFTER UPDATE ON traffic_places FOR EACH ROW
  WHEN ((OLD.first_slot, OLD.detections, OLD.plates, OLD.earlier, OLD.periods)
    IS DISTINCT FROM (NEW.first_slot, NEW.detections, NEW.plates, NEW.earlier, NEW.periods))
  EXECUTE FUNCTION note_traffic_change('sensor_id,location_id', '', '');
CREATE TRIGGER note_traffic_change_of_end AFTER UPDATE ON traffic_places FOR EACH ROW
  WHEN (OLD.last_slot IS DISTINCT FROM NEW.last_slot)
  EXECUTE FUNCTION note_traffic_change('sensor_id,location_id', 'last_slot', '');
CREATE TRIGGER note_traffic_change AFTER UPDATE ON traffic_kept FOR EACH ROW
  WHEN ((OLD.since, OLD.unconverted_until) IS DISTINCT FROM (NEW.since, NEW.unconverted_until))
  EXECUTE FUNCTION note_traffic_change('', '', '');

-- The rolled-up events of each hour (in UTC), of all keys of the totals together, and the violations among them. A process of an older
-- version that still rolls up does not add to it; readers compare it with the totals of days.
CREATE TABLE event_hour_totals (
  hour       timestamptz PRIMARY KEY,
  n          bigint NOT NULL,
  violations bigint NOT NULL
) WITH (fillfactor = 70);
INSERT INTO event_hour_totals (hour, n, violations)
  SELECT hour, sum(n), coalesce(sum(n) FILTER (
    WHERE event_type IN ('TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION') OR violation_type <> ''), 0)
  FROM event_totals_folded GROUP BY hour;
