-- Counts of intervals of at most an hour that no slot of traffic_bins contains: those of local hours in time zones that are not whole
-- hours away from UTC. Readers add them to the slots.
CREATE INDEX traffic_periods_across_quarters ON traffic_periods (sensor_id, start)
  WHERE seconds <= 3600
    AND start - date_bin(interval '15 minutes', start, timestamptz '2000-01-01 00:00Z') + make_interval(secs => seconds) > interval '15 minutes';
CREATE INDEX traffic_periods_across_hours ON traffic_periods (sensor_id, start)
  WHERE seconds <= 3600
    AND start - date_bin(interval '60 minutes', start, timestamptz '2000-01-01 00:00Z') + make_interval(secs => seconds) > interval '60 minutes';

-- Stored years lack these counts, and are computed again.
DELETE FROM traffic_years WHERE EXISTS (
  SELECT FROM traffic_periods
  WHERE seconds <= 3600
    AND start - date_bin(interval '15 minutes', start, timestamptz '2000-01-01 00:00Z') + make_interval(secs => seconds) > interval '15 minutes'
);
