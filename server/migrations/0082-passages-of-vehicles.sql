-- Events of one sensor with the same passage_id are one vehicle (traffic/passed-store.ts).

ALTER TABLE traffic_unfolded
  -- null: no event of the group has one.
  ADD COLUMN passage_ids text[],
  ALTER COLUMN passage_ids SET STORAGE EXTERNAL,
  ALTER COLUMN passage_ids SET STATISTICS 0;

-- Only of new partitions: the service builds those of the others in quiet times (events/upkeep). Until then, events_by_sensor is read.
CREATE INDEX events_by_passage ON ONLY events (sensor_id, passage_id, id) WHERE passage_id IS NOT NULL;

-- The events of a passage. A function, because planning a query on all partitions takes longer than most figures, which call it for
-- the few passages that are not rolled up.
CREATE FUNCTION passage_events(of_sensor uuid, of_passage text, since timestamptz, until timestamptz)
RETURNS TABLE (id uuid, event_type text, location_id uuid, vehicle_type text, vehicle_speed double precision, direction text,
  lane text, vehicle_class text, movement text)
LANGUAGE plpgsql STABLE ROWS 3 AS $$
#variable_conflict use_column
DECLARE
  first_id uuid := (lpad(to_hex((extract(epoch FROM since) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
  end_id   uuid := (lpad(to_hex((extract(epoch FROM until) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
BEGIN
  RETURN QUERY
    SELECT id, event_type, location_id, vehicle_type, vehicle_speed, direction, lane, vehicle_class, movement FROM events
    WHERE sensor_id = of_sensor AND passage_id = of_passage AND id >= first_id AND id < end_id;
END $$;

-- Years of places that could not be stored, such as because that took too long, and when they are tried again.
CREATE TABLE traffic_year_failures (
  place_id uuid NOT NULL,
  year     smallint NOT NULL,
  attempts smallint NOT NULL,
  due_at   timestamptz NOT NULL,
  PRIMARY KEY (place_id, year)
);
