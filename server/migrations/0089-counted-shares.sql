-- Of counts of intervals (source 4): the share of the slot that they cover, from 0 to 1, which follows from the measures -4 and -5.
-- null: not known, as of rows from before this migration; readers compute it from the sums.
ALTER TABLE traffic_bins ADD COLUMN counted_share double precision;
