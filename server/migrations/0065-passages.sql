-- How a vehicle passed, as far as its sensor reports it.
ALTER TABLE events
  -- NB, …, APPROACHING, or degrees.
  ADD COLUMN direction      text COLLATE "C",
  ADD COLUMN lane           text,
  -- As SCHEME:CODE.
  ADD COLUMN vehicle_class  text COLLATE "C",
  -- m
  ADD COLUMN vehicle_length real,
  -- s
  ADD COLUMN headway        real,
  ADD COLUMN gap            real,
  ADD COLUMN occupancy_ms   integer,
  -- The leg, or LEG:TURN.
  ADD COLUMN movement       text COLLATE "C",
  ADD COLUMN passage_id     text;

-- null: no event of the group has one.
ALTER TABLE traffic_unfolded
  ADD COLUMN classes text[],
  ADD COLUMN movements text[],
  ALTER COLUMN classes SET STORAGE EXTERNAL,
  ALTER COLUMN movements SET STORAGE EXTERNAL,
  ALTER COLUMN classes SET STATISTICS 0,
  ALTER COLUMN movements SET STATISTICS 0;

-- As in events; '' for none. The class of a kind without one follows from the type of its vehicles.
ALTER TABLE traffic_cells
  ADD COLUMN vehicle_class text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN movement text COLLATE "C" NOT NULL DEFAULT '',
  DROP CONSTRAINT traffic_cells_vehicle_type_direction_lane_key,
  ADD UNIQUE (vehicle_type, vehicle_class, direction, lane, movement);
