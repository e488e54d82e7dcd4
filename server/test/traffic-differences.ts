/**
 * Rows of (minutes, sensor, location, source, slot, vehicle type, measure, sum) that only the stored events or only the
 * rolled-up counts give; the measure 'events' counts all events. Slots longer than five minutes contain what came before
 * `longer_until`.
 */
export const TRAFFIC_DIFFERENCES = `
  WITH measured AS (
    SELECT sensor_id, location_id, event_time(id) AS at, concat_ws('|', vehicle_type, vehicle_class, direction, lane, movement,
        CASE WHEN event_type NOT IN ('VEHICLE_DETECTION', 'PLATE_RECOGNITION', 'INCIDENT') THEN event_type END) AS type,
      coalesce(vehicle_class = 'FHWA13:9', lower(vehicle_type) <> 'bicycle', true) AS motor, event_type <> 'INCIDENT' AS passes,
      CASE event_type WHEN 'VEHICLE_DETECTION' THEN 1 WHEN 'SPEED_DETECTION' THEN 1 WHEN 'PLATE_RECOGNITION' THEN 2 ELSE 3 END AS source,
      CASE WHEN event_type <> 'INCIDENT' AND vehicle_speed > 0 AND vehicle_speed <= 250 THEN round(vehicle_speed * 1000) END AS speed
    FROM events
  ), counted AS (
    SELECT minutes, sensor_id, location_id, source, at, one.*
    FROM measured CROSS JOIN (VALUES (5), (15), (60), (1440)) AS level (minutes) CROSS JOIN LATERAL (VALUES
      (type, CASE WHEN speed IS NULL THEN 'none' ELSE greatest(ceil(speed / 1000), 1)::text END, passes::int::numeric),
      (type, 'speeds', speed::numeric), (type, 'squares', round((speed / 10) ^ 2)::numeric), ('', 'events', 1),
      ('', 'vehicles', CASE WHEN motor THEN passes::int END),
      ('', 'measured', CASE WHEN motor AND speed IS NOT NULL THEN 1 END),
      ('', 'speed_sum', CASE WHEN motor THEN speed::numeric END)
    ) AS one (type, measure, value)
    WHERE minutes = 5 OR at < (SELECT longer_until FROM traffic_kept)
  ), truth AS (
    SELECT minutes, sensor_id, location_id, source, to_timestamp(floor(extract(epoch FROM at) / (minutes * 60)) * minutes * 60) AS slot,
      type, measure, sum(value)::bigint AS value
    FROM counted GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(value) <> 0
  ), kept AS (
    SELECT minutes::int, sensor_id, location_id, source::int, slot,
      concat_ws('|', nullif(vehicle_type, ''), nullif(vehicle_class, ''), nullif(direction, ''), nullif(lane, ''), nullif(movement, ''), nullif(event_type, '')) AS type,
      CASE measure WHEN -1 THEN 'none' WHEN -2 THEN 'speeds' WHEN -3 THEN 'squares' ELSE measure::text END, value
    FROM traffic_bins, unnest(cells, measures, sums) AS one (cell, measure, value) JOIN traffic_cells ON id = cell
    WHERE minutes > 1
    UNION ALL
    SELECT minutes, sensor_id, location_id, source, slot, '', total.measure, total.value
    FROM traffic_bins CROSS JOIN LATERAL (VALUES ('events', events), ('vehicles', vehicles),
      ('measured', measured), ('speed_sum', speed_sum)) AS total (measure, value)
    WHERE minutes > 1 AND total.value <> 0
  )
  (TABLE truth EXCEPT ALL TABLE kept) UNION ALL (TABLE kept EXCEPT ALL TABLE truth)`;
