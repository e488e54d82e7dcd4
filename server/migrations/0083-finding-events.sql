-- Events by what was read of them, for filters without an index of their own, from the index alone. The condition is true for
-- all events: without it, the index would also be used in place of the smaller primary key. Only of new partitions: the service
-- builds those of the others in quiet times (events/upkeep), while events are stored.
CREATE INDEX events_by_reading ON ONLY events (id) INCLUDE (
  event_type, severity, processed, archived, created_at, vehicle_speed, plate_confidence, plate_region, lane, direction,
  sensor_id, location_id
) WHERE created_at > '-infinity';
