-- The type and the highest severity of the events that belong to an incident, null if the service attached none since
-- this migration. They stay when a person changes the type or the severity of the incident.
ALTER TABLE incidents
  ADD COLUMN reported_type text COLLATE "C",
  ADD COLUMN reported_severity smallint CHECK (reported_severity BETWEEN 1 AND 4);
