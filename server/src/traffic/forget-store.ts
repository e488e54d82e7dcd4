import { type SQL, sql } from 'drizzle-orm';
import { locks } from '../database/locks.ts';
import type { Transaction } from '../database/transaction.ts';
import { idWithin } from '../events/totals.ts';
import type { Interval } from '../time.ts';
import { inSegments } from './rollups-store.ts';

const COLUMNS = sql.raw(
  'event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds, sign, first_id, last_id',
);

/** The ends of what is told of as `id`. */
const ENDS = sql.raw(`min(id::text COLLATE "C")::uuid, max(id::text COLLATE "C")::uuid`);

/** Events taken out at once are counted out in rows of so many. */
const AT_ONCE = 1_000;

/**
 * Counts events out that a statement removes, as a part of that statement: `WITH removed AS (DELETE FROM events …
 * RETURNING *), traffic AS (${countTrafficOut(sql`removed`)}) …`.
 * @param removed what has the columns id, event_type, sensor_id, location_id, vehicle_type and vehicle_speed of the events
 */
export const countTrafficOut = (removed: SQL): SQL => sql`
  INSERT INTO traffic_unfolded (${COLUMNS})
  SELECT array_agg(id), array_agg(event_type), array_agg(sensor_id), array_agg(location_id), array_agg(vehicle_type),
    array_agg(vehicle_speed), -1, ${ENDS}
  FROM (SELECT *, row_number() OVER () / ${sql.raw(String(AT_ONCE))} AS part FROM ${removed} AS removed) AS parts
  GROUP BY part`;

/**
 * Forgets all traffic within whole days of UTC, such as those of a month whose events are gone. To be called in the
 * transaction that drops them, after that: then nothing is stored there meanwhile. Waits for a fold under way.
 */
export const forgetTrafficWithin = async (tx: Transaction, range: Interval): Promise<void> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  const slots = inSegments(
    ([5, 15, 60, 1_440] as const).map((minutes) => ({ minutes, ...range })),
    sql`true`,
  );
  for (const within of slots) await tx.execute(sql`DELETE FROM traffic_rollups WHERE ${within}`);
  // What is not folded yet is taken back by rows of the other sign.
  await tx.execute(sql`
    INSERT INTO traffic_unfolded (${COLUMNS})
    SELECT array_agg(id), array_agg(event_type), array_agg(sensor_id), array_agg(location_id), array_agg(vehicle_type),
      array_agg(speed), -sign, ${ENDS}
    FROM (
      SELECT traffic_unfolded.ctid AS place, id, event_type, sensor_id, location_id, vehicle_type, speed, sign
      FROM traffic_unfolded, unnest(event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds)
        AS one (id, event_type, sensor_id, location_id, vehicle_type, speed)
    ) AS told WHERE ${sql.join(idWithin(range), sql` AND `)} GROUP BY place, sign`);
  await tx.execute(sql`
    DELETE FROM traffic_places WHERE NOT EXISTS (
      SELECT FROM traffic_rollups WHERE minutes = 1440 AND place_id = sensor_id
    )`);
};
