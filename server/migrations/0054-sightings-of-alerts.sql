-- gantry: locks watchlist_alerts 200000 lists of alerts, and the follow-up of reads of watched plates
-- Further reads of the vehicle of an alert belong to it and raise none of their own. Earlier alerts, in which the form of
-- the plate for comparisons (vehicle_key) is null, take none.
ALTER TABLE watchlist_alerts
  ADD COLUMN vehicle_key text,
  ADD COLUMN backlog boolean NOT NULL DEFAULT false,
  ADD COLUMN sightings integer NOT NULL DEFAULT 1,
  ADD COLUMN last_read_at timestamp(3) with time zone;

CREATE INDEX watchlist_alerts_of_vehicle ON watchlist_alerts (entry_id, sensor_id, vehicle_key, last_read_at)
  WHERE vehicle_key IS NOT NULL;

-- Open alerts are listed by their urgency.
CREATE INDEX watchlist_alerts_by_urgency ON watchlist_alerts (priority DESC, created_at, id) WHERE acknowledged_at IS NULL;

-- The further reads.
CREATE TABLE watchlist_sightings (
  entry_id uuid NOT NULL,
  event_id uuid NOT NULL,
  alert_id uuid NOT NULL REFERENCES watchlist_alerts (id) ON DELETE CASCADE,
  PRIMARY KEY (entry_id, event_id)
);
