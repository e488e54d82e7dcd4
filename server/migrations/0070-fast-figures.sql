-- Traffic figures that are read quickly.

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
