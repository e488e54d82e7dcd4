/**
 * Rows of (minutes, place, slot, type, vehicles, events, measured, sum, histogram, types) that only the stored events
 * or only the rolled-up counts give. Slots longer than five minutes contain what came before `longer_until`.
 */
export const TRAFFIC_DIFFERENCES = `
  WITH counted AS (
    SELECT minutes, place, to_timestamp(floor(extract(epoch FROM event_time(id)) / (minutes * 60)) * minutes * 60) AS slot,
      type, ceil(speed / 1000) AS bin, count(*) FILTER (WHERE event_type <> 'INCIDENT') AS n, count(*) AS events,
      sum(speed) AS speed_sum
    FROM (
      SELECT *, CASE WHEN event_type <> 'INCIDENT' THEN round(vehicle_speed * 1000) END AS speed FROM events
    ) AS measured CROSS JOIN (VALUES (5), (15), (60), (1440)) AS level (minutes)
      CROSS JOIN LATERAL (VALUES (sensor_id), (location_id)) AS of (place)
      CROSS JOIN LATERAL (VALUES (coalesce(vehicle_type, '')), (NULL)) AS kind (type)
    WHERE place IS NOT NULL AND (minutes = 5 OR event_time(id) < (SELECT longer_until FROM traffic_kept))
    GROUP BY 1, 2, 3, 4, 5
  ), added AS (
    SELECT minutes::int, place, slot, type, sum(n)::bigint AS n, sum(events)::bigint, coalesce(sum(n) FILTER (WHERE bin IS NOT NULL), 0)::bigint,
      coalesce(sum(speed_sum), 0)::bigint, coalesce(jsonb_object_agg(bin, n) FILTER (WHERE bin IS NOT NULL), '{}')
    FROM counted GROUP BY 1, 2, 3, 4
  ), parts AS (
    SELECT minutes, place, slot, jsonb_object_agg(type, n) FILTER (WHERE n <> 0) AS types FROM added
    WHERE type IS NOT NULL GROUP BY 1, 2, 3
  ), truth AS (
    SELECT added.*, CASE WHEN type IS NOT NULL THEN '{}' ELSE coalesce(parts.types, '{}') END
    FROM added LEFT JOIN parts USING (minutes, place, slot)
  ), kept AS (
    SELECT minutes::int, place_id, slot, vehicle_type, n, events, measured, speed_sum, coalesce(
      (SELECT jsonb_object_agg(bin, count) FROM unnest(bins, counts) AS histogram (bin, count)), '{}'), coalesce(
      (SELECT jsonb_object_agg(type, count) FROM unnest(types, type_counts) AS part (type, count)), '{}')
    FROM traffic_rollups WHERE minutes > 1 AND (n, events, measured, speed_sum, cardinality(bins)) <> (0, 0, 0, 0, 0)
  )
  (TABLE truth EXCEPT TABLE kept) UNION ALL (TABLE kept EXCEPT TABLE truth)`;
