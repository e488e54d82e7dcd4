-- KMH or MPH: the units in which the speeds of a place are studied. null: those of the service (SPEED_UNITS).
ALTER TABLE locations ADD COLUMN speed_units text COLLATE "C" CHECK (speed_units IN ('KMH', 'MPH'));
