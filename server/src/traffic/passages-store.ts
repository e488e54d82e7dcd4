import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import type { Interval } from '../platform/time.ts';
import { keptSince } from './kept-store.ts';

/** The start of time for slots: they begin on full hours and days of UTC. */
export const ORIGIN = sql.raw(`timestamptz '2000-01-01 00:00Z'`);

/**
 * The rows of `traffic_unfolded` that may have something within the range. A bulk import leaves many rows, and to unnest
 * one costs far more than to look at its ends.
 */
export const groupsWithin = ({ from, until }: Interval): SQL => sql`(
  SELECT * FROM traffic_unfolded
  WHERE (last_id IS NULL OR last_id >= ${firstIdAt(from)}::uuid)
    AND (first_id IS NULL OR first_id < ${firstIdAt(until)}::uuid)
)`;

/**
 * The events in rows of `traffic_unfolded`, as a query with the columns at, slot (of 5 minutes), sensor_id, location_id,
 * vehicle_type ('' for none), vehicle (1 for every event but an INCIDENT, else 0), sign, and of vehicles speed (metres per
 * hour) and bin (the speed in whole km/h, upwards). What was before traffic is kept is left out: late events count no more.
 * @param rows a table, or a query with the same columns
 * @param condition on id, sensor_id, location_id, vehicle_type, speed (km/h) and sign
 */
export const passedIn = (rows: SQL, condition: SQL): SQL => sql`
  SELECT at, date_bin('5 minutes', at, ${ORIGIN}) AS slot, sensor_id, location_id, vehicle_type, vehicle, speed,
    ((speed + 999) / 1000)::smallint AS bin, sign
  FROM (
    SELECT event_time(id) AS at, sensor_id, location_id, coalesce(vehicle_type, '') AS vehicle_type,
      (event_type <> 'INCIDENT')::int AS vehicle,
      CASE WHEN event_type <> 'INCIDENT' THEN round(speed * 1000)::bigint END AS speed, sign
    FROM (
      SELECT id, event_type, sensor_id, location_id, vehicle_type, speed, sign
      FROM ${rows} AS told, unnest(event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds)
        AS one (id, event_type, sensor_id, location_id, vehicle_type, speed)
    ) AS events_told WHERE ${condition}
  ) AS passed WHERE at >= ${keptSince}`;
