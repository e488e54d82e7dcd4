-- The status history of a sensor stays when the sensor is deleted, because the traffic figures of its location need it:
-- an hour in which a sensor was ONLINE and detected nothing is a zero, and without the history it is a gap. Retention of
-- traffic removes it. A database that an earlier version distributed over a cluster does not have the foreign key.
ALTER TABLE sensor_status_history DROP CONSTRAINT IF EXISTS sensor_status_history_sensor_id_fkey;
