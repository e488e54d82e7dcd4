-- The key under which the source of events reports on an incident, such as the id of a situation record of DATEX II; null
-- if it has none. Later events with the key belong to the open incident of the sensor with that key.
ALTER TABLE incidents ADD COLUMN source_key text COLLATE "C";
