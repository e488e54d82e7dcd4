-- Autovacuum analyses these tables about once a minute while events arrive. Statistics of the elements of arrays are the
-- most expensive part, and no query searches these columns.
ALTER TABLE changes ALTER COLUMN event_ids SET STATISTICS 0;
ALTER TABLE traffic_unfolded
  ALTER COLUMN event_ids SET STATISTICS 0,
  ALTER COLUMN event_types SET STATISTICS 0,
  ALTER COLUMN sensor_ids SET STATISTICS 0,
  ALTER COLUMN location_ids SET STATISTICS 0,
  ALTER COLUMN vehicle_types SET STATISTICS 0,
  ALTER COLUMN speeds SET STATISTICS 0;
ALTER TABLE traffic_rollups
  ALTER COLUMN bins SET STATISTICS 0,
  ALTER COLUMN counts SET STATISTICS 0,
  ALTER COLUMN types SET STATISTICS 0,
  ALTER COLUMN type_counts SET STATISTICS 0;
