-- What a sensor reports of the plate it read.
ALTER TABLE events
  -- ISO 3166-1 alpha-2, and a part of it after a hyphen: AT, US-CA.
  ADD COLUMN plate_region     text COLLATE "C",
  -- Percent.
  ADD COLUMN plate_confidence smallint;

-- Where places and sensors are on the road.
ALTER TABLE locations
  ADD COLUMN road         text,
  ADD COLUMN kilometre    numeric(8,3),
  -- NB, …, BOTH.
  ADD COLUMN direction    text COLLATE "C",
  ADD COLUMN lanes        smallint CHECK (lanes BETWEEN 1 AND 12),
  ADD COLUMN has_shoulder boolean;

ALTER TABLE sensors
  -- As in events.
  ADD COLUMN lane          text,
  ADD COLUMN direction     text COLLATE "C",
  ADD COLUMN model         text,
  ADD COLUMN serial_number text,
  ADD COLUMN tags          text[] NOT NULL DEFAULT '{}';
