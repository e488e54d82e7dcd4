import { DAY_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import { gathered, UNFOLDED } from '../events/counts/counting.ts';
import { firstIdAt } from '../events/id.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { type Interval, SLOT_MS } from '../platform/time.ts';
import { groupsWithin, keptSince, PASSED, recountedVehicles, source, UNNESTED } from './passed-store.ts';
import { addBins, rollUpRows } from './roll-up-store.ts';
import { EARLIER } from './slots-store.ts';
import { noteYearChange } from './years-store.ts';

/**
 * The months from which retention removed events, with the time before which it did. The counts of such a time may exceed
 * the stored events.
 */
export const REMOVED = sql`
  SELECT month::timestamp AT TIME ZONE 'UTC' AS from_, max(until) AS until FROM retention_removals
  WHERE class = 'events' AND rows > 0 GROUP BY 1`;

/** Whether retention removed events of a day, the start of which is an expression. */
export function isRemovedOf(day: SQL): SQL {
  return sql`EXISTS (
    SELECT FROM (${REMOVED}) AS removed
    WHERE ${day} < removed.until AND ${day} >= removed.from_ AND ${day} < removed.from_ + interval '1 month'
  )`;
}

/** Maximum number of events in one row that waits to be rolled up. */
const PASSED_AT_ONCE = 1_000;

/**
 * Counts the events of a time again, like new ones. Those that wait to be rolled up already are subtracted in the same
 * statement, so that events stored meanwhile are counted once.
 */
function passAgain(time: Interval): SQL {
  const within = sql`id >= ${firstIdAt(time.from)}::uuid AND id < ${firstIdAt(time.until)}::uuid`;
  return sql`
    INSERT INTO traffic_unfolded (${sql.raw(UNFOLDED.map(({ as }) => as).join(', '))}, sign, first_id, last_id)
    SELECT ${sql.raw(UNFOLDED.map(({ of }) => gathered(of)).join(', '))}, sign,
      min(id::text COLLATE "C")::uuid, max(id::text COLLATE "C")::uuid
    FROM (
      SELECT *, row_number() OVER (PARTITION BY sign ORDER BY id) / ${PASSED_AT_ONCE}::int AS part
      FROM (
        SELECT ${sql.raw(UNFOLDED.map(({ of }) => of).join(', '))}, 1::smallint AS sign FROM events WHERE ${within}
        UNION ALL
        SELECT ${PASSED}, (-sign)::smallint FROM ${groupsWithin(time)} AS waiting, ${UNNESTED}
        WHERE ${within}
      ) AS passed
    ) AS parts GROUP BY sign, part
    RETURNING passage_ids IS NOT NULL AS "hasPassages"`;
}

/**
 * Counts a day (in UTC) again from its events, in a transaction that holds the lock of the roll-up. In which parts of an
 * hour there was an event outlasts the event, so rows stay.
 * @param sensors a condition on the sensor_id of the rows to clear
 * @returns the number of rows that were cleared
 */
export async function recountDay(tx: Transaction, day: Interval, sensors: SQL): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    UPDATE traffic_bins SET events = 0, vehicles = 0, measured = 0, speed_sum = 0, cells = '{}', measures = '{}', sums = '{}',
      brief_cells = '{}', brief_measures = '{}', brief_sums = '{}'
    WHERE minutes IN (1, 5, 15, 60, 1440) AND source <> ${source.COUNTED} AND ${sensors}
      AND slot >= ${moment(day.from)} AND slot < ${moment(day.until)}`);
  await noteYearChange(tx, null, day);
  // Slot by slot, so that no statement takes too long.
  for (let from = day.from; from < day.until; from += SLOT_MS) {
    const slot = { from, until: from + SLOT_MS };
    const { rows: groups } = await tx.execute<{ hasPassages: boolean }>(passAgain(slot));
    if (groups.length === 0) continue;
    // Only what this transaction added, because others that wait may contain events of times that come later.
    const isOwn = sql`xmin = pg_current_xact_id()::xid`;
    await rollUpRows(
      tx,
      sql`ARRAY(SELECT ctid FROM traffic_unfolded WHERE ${isOwn})`,
      groups.some(({ hasPassages }) => hasPassages)
        ? recountedVehicles(slot, sql`(SELECT * FROM traffic_unfolded WHERE NOT ${isOwn})`)
        : null,
    );
  }
  return rowCount ?? 0;
}

interface Unconverted extends Record<string, unknown> {
  readonly mine: boolean;
  /** The start of the last day that is not converted, in Unix milliseconds. */
  readonly day: number;
  /** Whether all counts are from later days. */
  readonly is_last: boolean;
  readonly is_removed: boolean;
}

/**
 * Replaces the counts of a day that were made before sources were distinguished, the last such day first, unless another
 * process is rolling up. They are counted again from the events; those of a day from which retention removed events are
 * kept as they are, without a source.
 * @returns whether there may be another day
 */
export function convertDay(db: Database): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const { rows } = await tx.execute<Unconverted>(sql`
      SELECT pg_try_advisory_xact_lock(${locks.traffic}) AS mine,
        (extract(epoch FROM day) * 1000)::float8 AS day, ${isRemovedOf(sql`day`)} AS is_removed,
        day + interval '1 day' <= greatest(since, coalesce((SELECT min(first_slot) FROM traffic_places), 'infinity')) AS is_last
      FROM (
        SELECT since, unconverted_until - interval '1 day' AS day FROM traffic_kept WHERE unconverted_until IS NOT NULL
      ) AS kept`);
    const [next] = rows;
    if (!next?.mine) return false;
    if (next.is_last) {
      await forgetEarlier(tx);
      return false;
    }
    await convert(tx, { from: next.day, until: next.day + DAY_MS }, next.is_removed);
    await tx.execute(sql`UPDATE traffic_kept SET unconverted_until = ${moment(next.day)}`);
    return true;
  });
}

async function convert(tx: Transaction, day: Interval, isRemoved: boolean): Promise<void> {
  const [from, until] = [moment(day.from), moment(day.until)];
  const sensors = sql`SELECT sensor_id FROM traffic_places WHERE first_slot < ${until} AND last_slot >= ${from}`;
  const places = sql`(${sensors}
    UNION SELECT location_id FROM traffic_places WHERE first_slot < ${until} AND last_slot >= ${from})`;
  const ofDay = sql`slot >= ${from} AND slot < ${until}`;
  if (isRemoved)
    await tx.execute(
      addBins(sql`
        SELECT minutes, sensor_id, location_id, source, slot, sum(events) FILTER (WHERE measure = -3)::bigint,
          sum(vehicles) FILTER (WHERE measure = -3)::bigint, sum(measured) FILTER (WHERE measure = -3)::bigint,
          sum(speed_sum) FILTER (WHERE measure = -3)::bigint, bit_or(alive)::smallint,
          NULL::timestamptz, NULL::timestamptz, array_agg(cell ORDER BY cell, measure),
          array_agg(measure ORDER BY cell, measure), array_agg(value ORDER BY cell, measure)
        FROM (${EARLIER}) AS earlier, unnest(cells, measures, sums) AS one (cell, measure, value)
        WHERE sensor_id IN ${places} AND ${ofDay} GROUP BY 1, 2, 3, 4, 5`),
    );
  else {
    await recountDay(tx, day, sql`sensor_id IN (${sensors})`);
    // Hours in which a sensor was alive, although its events are gone.
    await tx.execute(
      addBins(sql`
        SELECT minutes, place_id, place_id, 0, slot, 0, 0, 0, 0, (alive & ~counted)::smallint, NULL::timestamptz, NULL::timestamptz,
          '{}'::int[], '{}'::smallint[], '{}'::bigint[]
        FROM traffic_rollups CROSS JOIN LATERAL (
          SELECT coalesce(bit_or(alive), 0) AS counted FROM traffic_bins
          WHERE minutes = 60 AND sensor_id = place_id AND traffic_bins.slot = traffic_rollups.slot
        ) AS again
        WHERE minutes = 60 AND place_id IN (${sensors}) AND ${ofDay} AND vehicle_type IS NULL AND alive & ~counted <> 0`),
    );
  }
  await tx.execute(sql`
    DELETE FROM traffic_rollups
    WHERE minutes IN (5, 15, 60, 1440) AND place_id IN ${places} AND ${ofDay}`);
}

/** Ends the conversion. Of sensors without counts from before it, all is known that they ever sent. */
async function forgetEarlier(tx: Transaction): Promise<void> {
  await tx.execute(sql`
    UPDATE traffic_places SET earlier = false WHERE earlier AND NOT EXISTS (
      SELECT FROM traffic_bins
      WHERE minutes = 1440 AND traffic_bins.sensor_id = traffic_places.sensor_id AND source = 0 AND slot >= ${keptSince}
    )`);
  await tx.execute(sql`DELETE FROM traffic_rollups`);
  await tx.execute(sql`UPDATE traffic_kept SET unconverted_until = NULL`);
}
