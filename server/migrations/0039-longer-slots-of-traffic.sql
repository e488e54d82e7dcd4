-- The time, on a quarter hour, before which slots of 15 minutes, hours and days are counted; later ones are counted in
-- slots of five minutes only, until a quarter hour is over. Until now all lengths were counted at once, so it is the end
-- of the last day that was counted.
ALTER TABLE traffic_kept ADD COLUMN longer_until timestamptz;
UPDATE traffic_kept SET longer_until = date_bin('15 minutes', coalesce(
  (SELECT max(slot) + interval '1 day' FROM traffic_rollups WHERE minutes = 1440), now()
), '2000-01-01 00:00Z');
ALTER TABLE traffic_kept ALTER COLUMN longer_until SET NOT NULL;
