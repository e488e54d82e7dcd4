import { type SQL, sql } from 'drizzle-orm';
import { idWithin, idWithinAny } from '../events/counts/totals.ts';
import { firstIdAt } from '../events/id.ts';
import { caseFolded } from '../platform/database/case-folded.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../platform/time.ts';
import { partsWithin, type Segment, type SlotMinutes } from './segments.ts';

/**
 * The time since which traffic counts are kept, as an expression. Everything before it was removed and is a gap, even
 * if rows remain.
 */
export const keptSince = sql.raw('(SELECT since FROM traffic_kept)');

/**
 * The time, on a quarter hour, before which slots longer than five minutes are counted, as an expression. What came
 * later is counted in slots of five minutes only.
 */
export const longerUntil = sql.raw('(SELECT longer_until FROM traffic_kept)');

/**
 * Makes all traffic before a time (Unix milliseconds, a midnight in UTC) a permanent gap. Its rows can be removed
 * afterwards. Waits for a roll-up in progress.
 */
export async function keepTrafficSince(tx: Transaction, time: number): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.traffic})`);
  await tx.execute(sql`UPDATE traffic_kept SET since = ${moment(time)} WHERE since < ${moment(time)}`);
}

/** A day of a place whose counts were removed. */
export interface RemovedDay extends Record<string, unknown> {
  readonly place_id: string;
  /** The midnight in UTC at which it begins, as ISO text. */
  readonly slot: string;
}

/**
 * Removes counts of days before the time since which traffic is kept.
 * @param after the last day that was removed; null to begin
 * @param limit maximum number of days of one place each
 */
export async function removeDaysNotKept(
  tx: Transaction,
  after: RemovedDay | null,
  limit: number,
): Promise<RemovedDay[]> {
  const behind =
    after === null
      ? sql`true`
      : sql`(place_id, slot) > (${after.place_id}::uuid, ${after.slot}::timestamptz)`;
  // Plan: the unique index of traffic_rollups for days, then for every slot length of each of them.
  const { rows } = await tx.execute<RemovedDay>(sql`
    WITH days AS MATERIALIZED (
      SELECT place_id, slot FROM traffic_rollups
      WHERE minutes = 1440 AND vehicle_type IS NULL AND slot < ${keptSince} AND ${behind}
      ORDER BY place_id, slot LIMIT ${limit}
    ), gone AS (
      DELETE FROM traffic_rollups USING days
      WHERE minutes = ANY ('{5,15,60,1440}'::smallint[]) AND traffic_rollups.place_id = days.place_id
        AND traffic_rollups.slot >= days.slot AND traffic_rollups.slot < days.slot + interval '24 hours'
    )
    SELECT place_id, slot FROM days ORDER BY place_id, slot`);
  return rows;
}

/** A sensor or a location. */
export interface Place {
  readonly kind: 'sensor' | 'location';
  readonly id: string;
  /** The only times that count, on slots of five minutes and in order; all of time by default. */
  readonly spans?: readonly Interval[];
}

/** The traffic of a place by slot. The arrays are parallel: elements at the same position concern the same slot. */
export interface Rollups {
  /** Unix milliseconds. */
  readonly slots: readonly number[];
  readonly volumes: readonly number[];
  readonly measured: readonly number[];
  readonly speedSums: readonly number[];
  /** Empty unless speeds are requested. */
  readonly bins: readonly (readonly number[])[];
  readonly counts: readonly (readonly number[])[];
  /** The types of the vehicles ('' for none), with their counts; empty unless types are requested. */
  readonly types: readonly (readonly string[])[];
  readonly typeCounts: readonly (readonly number[])[];
}

interface RollupsRow extends Record<string, unknown> {
  slots: string | null;
  volumes: string;
  measured: string;
  speed_sums: string;
  bins: string | null;
  counts: string | null;
  types: string | null;
  type_counts: string | null;
}

/** Parses a list of PostgreSQL arrays, `{1,2},{3}`. */
function listsOf(arrays: string | null): number[][] {
  return arrays === null ? [] : JSON.parse(`[${arrays.replaceAll('{', '[').replaceAll('}', ']')}]`);
}

/** Parses one of them. */
export function numbersOf(array: string): number[] {
  return listsOf(array)[0] ?? [];
}

/**
 * The conditions for rows of `traffic_rollups` that together count these segments, on the first columns of their index.
 * @param segments parts of one range, in order
 */
export function inSegments(segments: readonly Segment[], rest: SQL): SQL[] {
  const joined: { from: number; until: number }[] = [];
  for (const { from, until } of segments) {
    const last = joined.at(-1);
    if (last?.until === from) last.until = until;
    else joined.push({ from, until });
  }
  const rowsOf = (minutes: SlotMinutes, from: number, until: number, part: SQL): SQL =>
    sql`minutes = ${sql.raw(String(minutes))} AND ${rest}
      AND slot >= ${moment(from)} AND slot < ${moment(until)} AND slot >= ${keptSince} AND ${part}`;
  return [
    ...segments.map(({ minutes, from, until }) => rowsOf(minutes, from, until, sql`slot < ${longerUntil}`)),
    ...joined.map(({ from, until }) => rowsOf(5, from, until, sql`slot >= ${longerUntil}`)),
  ];
}

/** The condition for vehicles in `traffic_unfolded` within the range. */
export function passedWithin({ from, until }: Interval): SQL {
  return sql.join(
    [sql`true`, ...idWithin({ from, until }).map((condition) => sql`${condition}`)],
    sql` AND `,
  );
}

/** The requested data of a place, beyond the number of vehicles and the sum of their speeds. */
export interface RollupFields {
  /** Only vehicles of this type, regardless of case. */
  readonly vehicleType?: string | undefined;
  /** Whether to include the number of vehicles by type. */
  readonly byType?: boolean;
  /** Whether to include histograms of speeds. */
  readonly histograms?: boolean;
}

const NOTHING: Rollups = {
  slots: [],
  volumes: [],
  measured: [],
  speedSums: [],
  bins: [],
  counts: [],
  types: [],
  typeCounts: [],
};

/** The traffic of a place, in any order; a slot may occur several times. */
export async function readRollups(
  db: Executor,
  { kind, id, spans = [ENDLESS] }: Place,
  wanted: readonly Segment[],
  { vehicleType: type, byType = false, histograms = false }: RollupFields,
): Promise<Rollups> {
  const segments = partsWithin(wanted, spans);
  if (segments.length === 0) return NOTHING;
  const range = {
    from: Math.min(...segments.map(({ from }) => from)),
    until: Math.max(...segments.map(({ until }) => until)),
  };
  const ofType = sql`${caseFolded(sql`vehicle_type`)} = ${caseFolded(type ?? '')}`;
  const chosen = type === undefined ? sql`vehicle_type IS NULL` : ofType;
  const ownType = sql`json_build_array(vehicle_type)::text, '{' || n || '}'`;
  const types = type === undefined ? sql`to_json(types)::text, type_counts::text` : ownType;
  const ifWanted = (isWanted: boolean, columns: SQL): SQL =>
    isWanted ? columns : sql`NULL::text, NULL::text`;
  const rolledUp = inSegments(segments, sql`place_id = ${id}::uuid`).map(
    (condition) => sql`
      SELECT slot, n, measured, speed_sum, ${ifWanted(histograms, sql`bins::text, counts::text`)}, ${ifWanted(byType, types)}
      FROM traffic_rollups WHERE ${condition} AND ${chosen}`,
  );
  const here = kind === 'sensor' ? sql`sensor_id = ${id}::uuid` : sql`location_id = ${id}::uuid`;
  const ownBin = sql`'{' || coalesce(bin::text, '') || '}', '{' || CASE WHEN bin IS NULL THEN '' ELSE n::text END || '}'`;
  // Plan: the unique index of traffic_rollups, and the pending groups. Each column is sent as one text, because the
  // driver took longer to parse rows. A month took 37 ms from 8,640 rows of five minutes, 30 of them to write the
  // arrays.
  const { rows } = await db.execute<RollupsRow>(sql`
    WITH fresh AS (
      SELECT slot, vehicle_type, bin, sum(sign * vehicle) AS n, coalesce(sum(sign * speed), 0) AS speed_sum
      FROM (${passedIn(groupsWithin(range), sql`${here} AND ${sql.join([passedWithin(range), ...idWithinAny(spans)], sql` AND `)}`)}) AS fresh
      WHERE ${type === undefined ? sql`true` : ofType} GROUP BY 1, 2, 3
    )
    SELECT array_agg(date_part('epoch', slot)::bigint)::text AS slots, array_agg(n)::text AS volumes,
      array_agg(measured)::text AS measured, array_agg(speed_sum)::text AS speed_sums,
      string_agg(bins, ',') AS bins, string_agg(counts, ',') AS counts,
      string_agg(types, ',') AS types, string_agg(type_counts, ',') AS type_counts
    FROM (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT slot, n::bigint, CASE WHEN bin IS NULL THEN 0 ELSE n END::bigint, speed_sum::bigint,
        ${ifWanted(histograms, ownBin)}, ${ifWanted(byType, ownType)}
      FROM fresh
    ) AS passed (slot, n, measured, speed_sum, bins, counts, types, type_counts)`);
  const [row] = rows;
  if (!row?.slots) return NOTHING;
  return {
    slots: numbersOf(row.slots).map((seconds) => seconds * 1_000),
    volumes: numbersOf(row.volumes),
    measured: numbersOf(row.measured),
    speedSums: numbersOf(row.speed_sums),
    bins: listsOf(row.bins),
    counts: listsOf(row.counts),
    types: row.types === null ? [] : JSON.parse(`[${row.types}]`),
    typeCounts: listsOf(row.type_counts),
  };
}

/** The origin of slots, which begin on full hours and days in UTC. */
export const ORIGIN = sql.raw(`timestamptz '2000-01-01 00:00Z'`);

/** The bit of a slot of 5 minutes in `alive` of its hour. */
export const ALIVE_BIT = sql.raw(`1 << (extract(minute FROM slot AT TIME ZONE 'UTC')::int / 5)`);

/**
 * The rows of `traffic_unfolded` that may overlap the range. A bulk import leaves many rows, and unnesting one is far
 * more expensive than checking its ends.
 */
export function groupsWithin({ from, until }: Interval): SQL {
  return sql`(
  SELECT * FROM traffic_unfolded
  WHERE (last_id IS NULL OR last_id >= ${firstIdAt(from)}::uuid)
    AND (first_id IS NULL OR first_id < ${firstIdAt(until)}::uuid)
)`;
}

/**
 * The events in rows of `traffic_unfolded`, as a query with the columns at, slot (of 5 minutes), sensor_id,
 * location_id, vehicle_type ('' for none), vehicle (1 for every event except an INCIDENT, else 0), sign, and for
 * vehicles speed (metres per hour) and bin (the speed in whole km/h, rounded up). Late events from before the time
 * since which traffic is kept are left out.
 * @param rows a table, or a query with the same columns
 * @param condition on id, sensor_id, location_id, vehicle_type, speed (km/h) and sign
 */
export function passedIn(rows: SQL, condition: SQL): SQL {
  return sql`
  SELECT at, date_bin('5 minutes', at, ${ORIGIN}) AS slot, sensor_id, location_id, vehicle_type, vehicle, speed,
    ((speed + 999) / 1000)::smallint AS bin, sign
  FROM (
    SELECT event_time(id) AS at, sensor_id, location_id, coalesce(vehicle_type, '') AS vehicle_type,
      (event_type <> 'INCIDENT')::int AS vehicle,
      CASE WHEN event_type <> 'INCIDENT' THEN round(speed * 1000)::bigint END AS speed, sign
    FROM (
      SELECT id, event_type, sensor_id, location_id, vehicle_type, speed, sign
      FROM ${rows} AS source_rows, unnest(event_ids, event_types, sensor_ids, location_ids, vehicle_types, speeds)
        AS one (id, event_type, sensor_id, location_id, vehicle_type, speed)
    ) AS counted WHERE ${condition}
  ) AS passed WHERE at >= ${keptSince}`;
}
