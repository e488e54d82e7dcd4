-- The names of people whose account was deleted, so that what they did can still be told.
CREATE TABLE former_users (
  id uuid PRIMARY KEY,
  first_name text NOT NULL,
  last_name text NOT NULL,
  deleted_at timestamptz(3) NOT NULL DEFAULT now()
);

-- Whether the event that opened an incident was old when it came in.
ALTER TABLE incidents ADD COLUMN backlog boolean NOT NULL DEFAULT false;

-- The time of the latest event of the sensor that an open incident took in; null: none but the one that opened it.
ALTER TABLE incidents ADD COLUMN last_event_at timestamptz(3);
UPDATE incidents SET last_event_at = (
  SELECT event_time(event_id) FROM incident_events WHERE incident_id = incidents.id ORDER BY event_id DESC LIMIT 1
)
WHERE status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS');
CREATE INDEX incidents_open_of_sensor ON incidents (sensor_id, (coalesce(last_event_at, opened_at)), opened_at)
  WHERE status IN ('OPEN', 'ACKNOWLEDGED', 'IN_PROGRESS');

-- How many of the attempts people asked for: those do not bring a delivery nearer to its last one.
ALTER TABLE webhook_deliveries ADD COLUMN by_hand integer NOT NULL DEFAULT 0;
