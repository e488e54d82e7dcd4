-- KMH or MPH: the units in which the speeds of a place are studied. null: those of the service (SPEED_UNITS).
ALTER TABLE locations ADD COLUMN speed_units text COLLATE "C" CHECK (speed_units IN ('KMH', 'MPH'));

-- How often judging a day failed, and until when it is not tried again; null: never.
ALTER TABLE traffic_unjudged ADD COLUMN attempts smallint, ADD COLUMN due_at timestamptz;
