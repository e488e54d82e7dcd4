-- gantry: locks incidents 500000 incidents, and the follow-up of events
-- The open incidents of a sensor with given keys: a source may report on tens of thousands at once, of which a group of
-- its events concerns at most a thousand.
CREATE INDEX incidents_open_of_source ON incidents (sensor_id, source_key)
  WHERE source_key IS NOT NULL AND status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS');
