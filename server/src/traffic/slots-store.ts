import { classSchemeNames, classSchemes, NON_MOTOR_WORDS } from '@gantry/contract/vehicle-classes';
import { type SQL, sql } from 'drizzle-orm';
import { idWithinAny } from '../events/counts/totals.ts';
import { classText } from '../events/passage-columns.ts';
import { caseFolded } from '../platform/database/case-folded.ts';
import { locks } from '../platform/database/locks.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../platform/time.ts';
import {
  isPassageWaiting,
  KIND,
  keptSince,
  MAX_SPEED,
  ORIGIN,
  passedWithin,
  waitingIn,
} from './passed-store.ts';
import { partsWithin, type Segment, type SlotMinutes } from './segments.ts';

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

/** A day of a sensor whose counts were removed. */
export interface RemovedDay extends Record<string, unknown> {
  readonly sensor_id: string;
  /** The midnight in UTC at which it begins, as ISO text. */
  readonly slot: string;
}

/**
 * Removes counts of days before the time since which traffic is kept.
 * @param after the last day that was removed; null to begin
 * @param limit maximum number of days of one sensor each
 */
export function removeDaysNotKept(
  tx: Transaction,
  after: RemovedDay | null,
  limit: number,
): Promise<RemovedDay[]> {
  const behind =
    after === null
      ? sql`true`
      : sql`(sensor_id, slot) > (${after.sensor_id}::uuid, ${after.slot}::timestamptz)`;
  // Plan: the unique index of traffic_bins for days.
  return removeDays(
    tx,
    sql`
      SELECT DISTINCT sensor_id, slot FROM traffic_bins
      WHERE minutes = 1440 AND slot < ${keptSince} AND ${behind}
      ORDER BY sensor_id, slot LIMIT ${limit}`,
  );
}

/**
 * Removes days before that time that have periods and no counts: of those that cross a midnight of UTC, and of those longer than an
 * hour.
 * @param limit maximum number of periods of which the days are removed
 */
export function removeUncountedDaysNotKept(tx: Transaction, limit: number): Promise<RemovedDay[]> {
  // Plan: traffic_periods_by_start for each sensor.
  return removeDays(
    tx,
    sql`
      SELECT DISTINCT sensor_id, date_bin('1 day', start, ${ORIGIN}) AS slot FROM (
        SELECT sensor_id, start FROM traffic_periods
        WHERE sensor_id = ANY (ARRAY(SELECT DISTINCT sensor_id FROM traffic_places WHERE periods)) AND start < ${keptSince}
        LIMIT ${limit}
      ) AS periods`,
  );
}

/** @param days a query of sensor_id and slot */
async function removeDays(tx: Transaction, days: SQL): Promise<RemovedDay[]> {
  // Plan: the unique index of traffic_bins for every slot length of each day.
  const { rows } = await tx.execute<RemovedDay>(sql`
    WITH days AS MATERIALIZED (
      ${days}
    ), gone AS (
      DELETE FROM traffic_bins USING days
      WHERE minutes = ANY ('{5,15,60,1440}'::smallint[]) AND traffic_bins.sensor_id = days.sensor_id
        AND traffic_bins.slot >= days.slot AND traffic_bins.slot < days.slot + interval '24 hours'
    ), periods_gone AS (
      DELETE FROM traffic_periods USING days
      WHERE traffic_periods.sensor_id = days.sensor_id AND start >= days.slot AND start < days.slot + interval '24 hours'
      RETURNING traffic_periods.*
    ), revisions_gone AS (
      DELETE FROM traffic_period_revisions AS former USING periods_gone AS period
      WHERE period.revision > 0 AND (former.sensor_id, former.direction, former.lane, former.movement, former.start)
        = (period.sensor_id, period.direction, period.lane, period.movement, period.start)
    ), flags_gone AS (
      DELETE FROM traffic_flags USING days
      WHERE traffic_flags.sensor_id = days.sensor_id AND found_at >= days.slot AND found_at < days.slot + interval '24 hours'
    ), observed_gone AS (
      DELETE FROM traffic_observed USING days
      WHERE traffic_observed.sensor_id = days.sensor_id AND until <= days.slot + interval '24 hours'
    ), unjudged_gone AS (
      DELETE FROM traffic_unjudged USING days
      WHERE traffic_unjudged.sensor_id = days.sensor_id AND day = (days.slot AT TIME ZONE 'UTC')::date
    )
    SELECT sensor_id, slot FROM days ORDER BY sensor_id, slot`);
  return rows;
}

/** A sensor, a location or a measuring point. */
export interface Place {
  readonly kind: 'sensor' | 'location' | 'point';
  readonly id: string;
  /** Of a location and of a measuring point. */
  readonly locationId?: string;
  /** Of a measuring point: whether what verifies it counts instead of what counts there. */
  readonly isVerified?: boolean;
  /** The only times that count, on slots of five minutes and in order; all of time by default. */
  readonly spans?: readonly Interval[];
}

/** The sensor of events without one. */
export const NO_SENSOR = sql.raw(`'00000000-0000-0000-0000-000000000000'::uuid`);

/** The measures of the packed sums besides the bins of speeds, which are from 1 to `MAX_BIN` (km/h). */
export const measure = { UNMEASURED: -1, SPEEDS: -2, SQUARES: -3, COVERED: -4, EXPECTED: -5 } as const;

/** Whether a measure counts vehicles with a plausible speed. Counts from before 0064 have others as well. */
export function isPlausibleBin(what: number): boolean {
  return what >= 1 && what <= MAX_SPEED;
}

/** The same as a condition. */
export const isPlausible = sql.raw(`measure BETWEEN 1 AND ${MAX_SPEED}`);

/** The classes, as `SCHEME:CODE`, that are no motor vehicles. */
const NON_MOTOR_CLASSES: readonly string[] = classSchemeNames.flatMap((scheme) =>
  classSchemes[scheme].flatMap(({ code, mode }) => (mode === 'MOTOR' ? [] : [classText({ scheme, code })])),
);

/** Whether the columns vehicle_class and vehicle_type are those of motor vehicles, as a condition. The class decides. */
export const isOfMotor = sql`(CASE WHEN vehicle_class = ''
  THEN ${caseFolded(sql`vehicle_type`)} <> ALL (${sql.param(NON_MOTOR_WORDS)}::text[])
  ELSE vehicle_class <> ALL (${sql.param(NON_MOTOR_CLASSES)}::text[]) END)`;

/** A kind of vehicle, as the device sent it; '' for none. */
export interface Kind {
  readonly vehicleType: string;
  /** As `SCHEME:CODE`. */
  readonly vehicleClass: string;
  readonly direction: string;
  readonly lane: string;
  /** As `LEG` or `LEG:TURN`. */
  readonly movement: string;
  /**
   * The type of the event; '' for the usual one of its source, VEHICLE_DETECTION or PLATE_RECOGNITION. Of a passage with events
   * of several types, all of them, joined by `+`.
   */
  readonly eventType: string;
  /** Whether these are in the volume: not pedestrians and bicycles. */
  readonly isMotor: boolean;
}

/** Packed sums: elements at the same position belong together. A cell is a key of the kinds. */
export interface Packed {
  /** Unix milliseconds. */
  readonly slot: number;
  /** The length of the slot. */
  readonly minutes: number;
  /** The sensor; the place itself if it is not known which one. */
  readonly sensorId: string;
  readonly cells: readonly number[];
  readonly measures: readonly number[];
  readonly sums: readonly number[];
  /** Of counts of intervals: the share of the slot that they cover, as `countedSpans` finds it; null if it is not stored. */
  readonly share: number | null;
}

/** The counts of a place, in any order; a slot of a sensor may occur several times. */
export interface Counts {
  readonly kinds: ReadonlyMap<number, Kind>;
  readonly rows: readonly Packed[];
}

interface CountsRow extends PackedRows {
  has_passages: boolean;
  kinds: (Kind & { readonly cell: number })[] | null;
}

interface PackedRows extends Record<string, unknown> {
  slots: string | null;
  minutes: string;
  sensors: string;
  shares: string;
  /** For `sums`, vehicles, those with a speed, and the sums of their speeds instead. */
  cells: string;
  measures: string;
  sums: string;
}

/** Rows of packed sums as one, in which each column is one text, because the driver takes longer to parse rows. */
const PACKED_ROWS =
  sql.raw(`array_agg(date_part('epoch', slot)::bigint)::text AS slots, array_agg(minutes)::text AS minutes,
  string_agg(sensor_id::text, ',') AS sensors, array_agg(share)::text AS shares`);

/** The cells and measures of the sums of motor vehicles: the sum of their speeds, those without a speed, and those with one. */
export const [SUM_CELLS, SUM_MEASURES] = [
  [0, 0, 0],
  [measure.SPEEDS, measure.UNMEASURED, 1],
] as const;

/** The rows in what was read as `PACKED_ROWS`. */
function packedOf(row: PackedRows | undefined, detail: Detail): Packed[] {
  if (!row?.slots) return [];
  const [sensors, minutes] = [row.sensors.split(','), numbersOf(row.minutes)];
  const shares: (number | null)[] = numbersOf(row.shares.replaceAll('NULL', 'null'));
  const slots = numbersOf(row.slots);
  if (detail === 'sums') {
    const [vehicles = [], measured = [], speeds = []] = [row.cells, row.measures, row.sums].map(numbersOf);
    return slots.map((seconds, n) => ({
      slot: seconds * 1_000,
      minutes: minutes[n] ?? 0,
      sensorId: sensors[n] ?? '',
      share: shares[n] ?? null,
      cells: SUM_CELLS,
      measures: SUM_MEASURES,
      sums: [speeds[n] ?? 0, (vehicles[n] ?? 0) - (measured[n] ?? 0), measured[n] ?? 0],
    }));
  }
  const [cells = [], measures = [], sums = []] = [row.cells, row.measures, row.sums].map(listsOf);
  return slots.map((seconds, n) => ({
    slot: seconds * 1_000,
    minutes: minutes[n] ?? 0,
    sensorId: sensors[n] ?? '',
    share: shares[n] ?? null,
    cells: cells[n] ?? [],
    measures: measures[n] ?? [],
    sums: sums[n] ?? [],
  }));
}

/** Parses a list of PostgreSQL arrays, `{1,2},{3}`. */
function listsOf(arrays: string | null): number[][] {
  return arrays === null ? [] : JSON.parse(`[${arrays.replaceAll('{', '[').replaceAll('}', ']')}]`);
}

/** Parses one of them. */
export function numbersOf(array: string): number[] {
  return listsOf(array)[0] ?? [];
}

// Counts from before traffic_bins, until they are replaced (recount-store.ts), as rows of it. Implausible speeds are taken
// out of them as far as the histogram says.
export const EARLIER = sql.raw(`
  SELECT minutes, place_id AS sensor_id, place_id AS location_id, 0::smallint AS source, slot, events,
    is_motor::int * n AS vehicles, is_motor::int * plausible AS measured, is_motor::int * (speed_sum - excess) AS speed_sum, alive,
    NULL::timestamptz AS first_at, NULL::timestamptz AS last_at,
    array_fill(traffic_cells.id, ARRAY[cardinality(bins) + 3]) AS cells, '{-3,-2,-1}'::smallint[] || bins AS measures,
    ARRAY[squares, speed_sum - excess, n - measured] || counts::bigint[] AS sums
  FROM traffic_rollups
    JOIN traffic_cells ON traffic_cells.vehicle_type = traffic_rollups.vehicle_type
      AND (vehicle_class, direction, lane, movement, event_type) = ('', '', '', '', '')
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(count) FILTER (WHERE bin BETWEEN 1 AND ${MAX_SPEED}), 0) AS plausible,
        coalesce(sum(count * bin * 1000::bigint) FILTER (WHERE bin > ${MAX_SPEED}), 0)::bigint AS excess,
        coalesce(sum(count * (100 * bin - 50) * (100 * bin - 50)::bigint) FILTER (WHERE bin <= ${MAX_SPEED}), 0)::bigint AS squares
      FROM unnest(bins, counts) AS one (bin, count)
    ) AS sum_of
  WHERE minutes > 1 AND slot < (SELECT unconverted_until FROM traffic_kept)`);

/** All rows of `traffic_bins`, and those of the earlier table in the same form. */
export const BINS = sql`(
  SELECT minutes, sensor_id, location_id, source, slot, events, vehicles, measured, speed_sum, alive, first_at, last_at,
    cells, measures, sums, brief_cells, brief_measures, brief_sums, counted_share
  FROM traffic_bins UNION ALL SELECT *, NULL::int[], NULL::smallint[], NULL::bigint[], NULL::float8 FROM (${EARLIER}) AS earlier
)`;

/** The packed sums of a row of them without the bins of speeds, as far as they are kept. */
export const BRIEF_SUMS = sql.raw(`coalesce(brief_cells, cells) AS cells,
  coalesce(brief_measures, measures) AS measures, coalesce(brief_sums, sums) AS sums`);

/**
 * The conditions for rows of `traffic_bins` that together count these segments, on the first columns of their index.
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

/** What is read: everything at a location, or what sensors saw anywhere. */
export type Read = Pick<Place, 'spans'> &
  ({ readonly locationId: string } | { readonly sensorIds: readonly string[] });

/** What is read of a place; of a measuring point, nothing but its sensors. */
export function readOf({ kind, id, spans }: Place): Read {
  const only = spans && { spans };
  if (kind === 'location') return { locationId: id, ...only };
  return { sensorIds: kind === 'sensor' ? [id] : [], ...only };
}

/** The condition for rows of what is read. */
export function isRead(read: Read): SQL {
  if ('locationId' in read) return sql`location_id = ${read.locationId}::uuid`;
  const [only] = read.sensorIds;
  return read.sensorIds.length === 1
    ? sql`sensor_id = ${only}::uuid`
    : sql`sensor_id = ANY (${sql.param(read.sensorIds)}::uuid[])`;
}

/** A sensor with the source whose events it counts. */
export interface Counting {
  readonly sensorId: string;
  readonly source: number;
}

/**
 * Returns a function that reads rows with or without passages that are waiting, as there were some the last time or not, and once more
 * if there are some unexpectedly. Most installations have none.
 */
export function expectingPassages() {
  let isExpected = false;
  return async <Row extends { readonly has_passages: boolean }>(
    read: (hasPassages: boolean) => Promise<Row[]>,
  ): Promise<Row[]> => {
    const wasExpected = isExpected;
    const rows = await read(wasExpected);
    isExpected = rows[0]?.has_passages ?? false;
    return isExpected && !wasExpected ? read(true) : rows;
  };
}

const readAsExpected = expectingPassages();

const NO_COUNTS: Counts = { kinds: new Map(), rows: [] };

/** What is read of counts: every speed; kinds of vehicles with the sums of their speeds; or the sums of all motor vehicles. */
export type Detail = 'speeds' | 'kinds' | 'sums';

/** How the sums of a detail are read: of rows of `traffic_bins`, of vehicles that are not rolled up, and as texts. */
interface Columns {
  readonly stored: SQL;
  readonly fresh: SQL;
  readonly packed: SQL;
}

const FRESH_CELLS = sql`ARRAY[cell, cell, cell]::int[], ARRAY[-3, -2, bin]::smallint[], ARRAY[squares, speeds, n]`;
const PACKED_CELLS = sql`string_agg(cells::text, ',') AS cells, string_agg(measures::text, ',') AS measures,
  string_agg(sums::text, ',') AS sums`;

const COLUMNS: Readonly<Record<Detail, Columns>> = {
  speeds: { stored: sql`cells, measures, sums`, fresh: FRESH_CELLS, packed: PACKED_CELLS },
  kinds: { stored: BRIEF_SUMS, fresh: FRESH_CELLS, packed: PACKED_CELLS },
  sums: {
    stored: sql`vehicles, measured, speed_sum`,
    fresh: sql`is_motor::int * n, CASE WHEN bin > 0 THEN is_motor::int * n ELSE 0 END, is_motor::int * speeds`,
    packed: sql`array_agg(vehicles)::text AS cells, array_agg(measured)::text AS measures, array_agg(speed_sum)::text AS sums`,
  },
};

/** How counts are read. */
export interface CountsOptions {
  readonly detail?: Detail;
  readonly hasEarlier?: boolean;
}

/**
 * Counts of sensors.
 * @param counting the sensors that count, with their sources
 * @param options `detail`: where it leaves out speeds, vehicles with one have the measure 1; `hasEarlier`: whether to include counts from before sources were known
 */
export async function readCounts(
  db: Executor,
  read: Read,
  counting: readonly Counting[],
  wanted: readonly Segment[],
  { detail = 'speeds', hasEarlier = true }: CountsOptions = {},
): Promise<Counts> {
  const { spans = [ENDLESS] } = read;
  const segments = partsWithin(wanted, spans);
  if (segments.length === 0 || ('sensorIds' in read && read.sensorIds.length === 0)) return NO_COUNTS;
  const range = {
    from: Math.min(...segments.map(({ from }) => from)),
    until: Math.max(...segments.map(({ until }) => until)),
  };
  const here = isRead(read);
  const columns = COLUMNS[detail];
  const earlier = hasEarlier ? sql`source = 0 OR ` : sql``;
  const rolledUp = inSegments(segments, here).map(
    (condition) => sql`
      SELECT slot, minutes, sensor_id, counted_share AS share, ${columns.stored} FROM ${BINS} AS bins
      WHERE ${condition} AND (${earlier}(sensor_id, source) IN (SELECT sensor_id, source FROM counting))`,
  );
  const ids = counting.map(({ sensorId }) => sensorId);
  const sources = counting.map((each) => each.source);
  const within = sql.join([passedWithin(range), ...idWithinAny(spans)], sql` AND `);
  // Plan: an index of traffic_bins, and the pending groups. What is pending has kinds of its own, with negative keys.
  const statementFor = (hasPassages: boolean): SQL => sql`
    WITH counting AS MATERIALIZED (
      SELECT * FROM unnest(${sql.param(ids)}::uuid[], ${sql.param(sources)}::smallint[]) AS one (sensor_id, source)
    ), fresh AS MATERIALIZED (
      SELECT slot, sensor_id, ${KIND}, coalesce(bin, -1::smallint) AS bin, sum(sign * vehicle)::bigint AS n,
        coalesce(sum(sign * speed), 0)::bigint AS speeds, coalesce(sum(sign * square), 0)::bigint AS squares
      FROM (${waitingIn(range, here, within, hasPassages)}) AS passed
        JOIN counting USING (sensor_id, source)
      WHERE vehicle = 1
      GROUP BY slot, sensor_id, ${KIND}, coalesce(bin, -1::smallint)
    ), fresh_kinds AS MATERIALIZED (
      SELECT -row_number() OVER () AS cell, kind.*, ${isOfMotor} AS is_motor
      FROM (SELECT DISTINCT ${KIND} FROM fresh) AS kind
    ), counted AS MATERIALIZED (
      ${sql.join(rolledUp, sql` UNION ALL `)}
      UNION ALL
      SELECT slot, 5, sensor_id, NULL::float8, ${columns.fresh}
      FROM fresh JOIN fresh_kinds USING (${KIND})
    )
    SELECT ${isPassageWaiting(range)} AS has_passages, ${PACKED_ROWS}, ${columns.packed}, (SELECT json_agg(${KIND_OBJECT}) FROM (
        SELECT cell, ${KIND}, is_motor FROM fresh_kinds UNION ALL SELECT 0, '', '', '', '', '', '', true
      ) AS kind) AS kinds
    FROM counted`;
  const [row] = await readAsExpected(
    async (hasPassages) => (await db.execute<CountsRow>(statementFor(hasPassages))).rows,
  );
  const packed = packedOf(row, detail);
  if (!row || packed.length === 0) return NO_COUNTS;
  const kinds = [...(row.kinds ?? []), ...(await readKinds(db, packed))];
  return { kinds: new Map(kinds.map(({ cell, ...kind }) => [cell, kind])), rows: packed };
}

const KIND_OBJECT =
  sql.raw(`json_build_object('cell', cell, 'vehicleType', vehicle_type, 'vehicleClass', vehicle_class,
  'direction', direction, 'lane', lane, 'movement', movement, 'eventType', event_type, 'isMotor', is_motor)`);

/** The kinds of the cells. They are never changed or removed, so they need no snapshot, and finding the used ones here is quicker. */
async function readKinds(db: Executor, rows: readonly Packed[]) {
  const used = new Set<number>();
  for (const { cells } of rows) for (const cell of cells) if (cell > 0) used.add(cell);
  if (used.size === 0) return [];
  // Plan: the primary key of traffic_cells.
  const { rows: known } = await db.execute<{ kind: Kind & { readonly cell: number } }>(sql`
    SELECT ${KIND_OBJECT} AS kind FROM (SELECT id AS cell, ${KIND}, is_motor FROM traffic_cells
      WHERE id = ANY (${sql.param([...used])}::int[])) AS known`);
  return known.map(({ kind }) => kind);
}

/** The bit of a slot of 5 minutes in `alive` of its hour. */
export const ALIVE_BIT = sql.raw(`1 << (extract(minute FROM slot AT TIME ZONE 'UTC')::int / 5)`);
