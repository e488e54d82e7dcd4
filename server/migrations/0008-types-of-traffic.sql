-- How many vehicles of each type make up a row of all vehicles, so that a month of short slots is read from one row each.
-- '' stands for none, as in vehicle_type.
ALTER TABLE traffic_rollups
  ADD COLUMN types text[] COLLATE "C" NOT NULL DEFAULT '{}',
  ADD COLUMN type_counts integer[] NOT NULL DEFAULT '{}';

UPDATE traffic_rollups AS whole SET types = of_types.types, type_counts = of_types.counts
  FROM (
    SELECT minutes, place_id, slot, array_agg(vehicle_type ORDER BY vehicle_type) AS types,
      array_agg(n::int ORDER BY vehicle_type) AS counts
    FROM traffic_rollups WHERE vehicle_type IS NOT NULL AND n <> 0 GROUP BY 1, 2, 3
  ) AS of_types
  WHERE whole.vehicle_type IS NULL AND whole.minutes = of_types.minutes AND whole.place_id = of_types.place_id
    AND whole.slot = of_types.slot;
