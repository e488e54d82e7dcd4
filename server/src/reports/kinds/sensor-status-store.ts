import { DAY_MS } from '@gantry/contract/durations';
import type { FaultState } from '@gantry/contract/fault-states';
import type { ReportFilters } from '@gantry/contract/reports';
import type { SensorStatus } from '@gantry/contract/sensors';
import { type SQL, sql } from 'drizzle-orm';
import { sortedName } from '../../platform/database/case-folded.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { worstRank } from '../../sensors/faults-store.ts';
import { firstContact } from '../../sensors/status-store.ts';
import { refersTo } from './events-store.ts';
import type { StatusChange, WatchedSensor } from './status-periods.ts';

export interface NamedSensor extends WatchedSensor {
  readonly id: string;
  readonly name: string;
  readonly deviceId: string;
  readonly type: string;
  readonly location: string | null;
  /** Its place in the order of the report. */
  readonly place: { readonly rank: number; readonly since: string };
  /** Those that were not repaired for some of the interval, in the order in which they were found. */
  readonly faults: readonly FaultCourse[];
  /** How many cases about the interval were rejected because of its equipment. */
  readonly rejectedCases: number;
}

/** A fault of a sensor as it was at the end of an interval. Times are in Unix milliseconds. */
export interface FaultCourse {
  readonly foundAt: number;
  readonly state: FaultState;
  /** Null for one that is not repaired. */
  readonly repairedAt: number | null;
  readonly text: string;
  readonly code: string | null;
  readonly ticket: string | null;
}

interface SensorRecord extends Record<string, unknown> {
  id: string;
  name: string;
  device_id: string;
  type: string;
  status: SensorStatus;
  created_at: string;
  first_contact: string | null;
  location: string | null;
  rank: number;
  status_since: string;
}

interface ChangeRecord extends Record<string, unknown> {
  sensor_id: string;
  from_status: SensorStatus | null;
  to_status: SensorStatus;
  at: string;
  reason: string;
}

/** The number of sensors that match the filters. */
export async function countSensors(db: Executor, filters: ReportFilters): Promise<number> {
  const { rows } = await db.execute<{ n: number }>(sql`
    SELECT count(*) AS n FROM sensors s WHERE ${sql.join([sql`true`, ...wanted(filters)], sql` AND `)}`);
  return rows[0]?.n ?? 0;
}

/**
 * The next sensors after one, the worst of now first, with their status changes within the interval, and their faults. Faults that were
 * repaired up to a week before it are among them.
 */
export async function listSensorsWithHistory(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
  after: NamedSensor | null,
  take: number,
): Promise<NamedSensor[]> {
  const rank = worstRank(sql`s.status`, sql`s.id`);
  const behind =
    after === null
      ? []
      : [
          sql`(${rank}, s.status_since, ${sortedName(sql`s.name`)}, s.id) >
            (${after.place.rank}::integer, ${after.place.since}::timestamptz, ${sortedName(sql`${after.name}`)}, ${after.id}::uuid)`,
        ];
  const { rows } = await db.execute<SensorRecord>(sql`
    SELECT s.id, s.name, s.device_id, s.type, s.status, s.created_at, l.name AS location,
      ${firstContact(sql`s.id`)} AS first_contact, ${rank} AS rank, s.status_since
    FROM sensors s LEFT JOIN locations l ON l.id = s.location_id
    WHERE ${sql.join([sql`true`, ...wanted(filters), ...behind], sql` AND `)}
    ORDER BY rank, s.status_since, ${sortedName(sql`s.name`)}, s.id LIMIT ${take}`);
  const ids = rows.map(({ id }) => id);
  const before = await findBefore(db, ids, interval.from);
  const changes = await findChanges(db, ids, interval);
  const faults = await findFaults(db, ids, interval);
  const rejected = await countRejectedCases(db, ids, interval);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    deviceId: row.device_id,
    type: row.type,
    location: row.location,
    status: row.status,
    createdAt: new Date(row.created_at).getTime(),
    firstContact: row.first_contact === null ? null : new Date(row.first_contact).getTime(),
    before: before.get(row.id) ?? null,
    changes: changes.get(row.id) ?? [],
    place: { rank: row.rank, since: row.status_since },
    faults: faults.get(row.id) ?? [],
    rejectedCases: rejected.get(row.id) ?? 0,
  }));
}

/** For how long a repaired fault still counts as repaired lately. */
export const LATELY_MS = 7 * DAY_MS;

async function findFaults(
  db: Executor,
  ids: readonly string[],
  { from, until }: Interval,
): Promise<ReadonlyMap<string, readonly FaultCourse[]>> {
  // Plan: faults_of_sensor, and fault_changes_of_fault backwards from the end of each.
  const { rows } = await db.execute<
    { sensor_id: string; found_at: string; state: FaultState; since: string | null } & Pick<
      FaultCourse,
      'text' | 'code' | 'ticket'
    >
  >(sql`
    SELECT sensor_id, found_at, text, code, ticket, coalesce(last.state, 'FOUND') AS state, last.at AS since
    FROM faults AS fault LEFT JOIN LATERAL (
      SELECT state, at FROM fault_changes WHERE fault_id = fault.id AND at < ${moment(until)} ORDER BY id DESC LIMIT 1
    ) AS last ON true
    WHERE sensor_id = ANY (${sql.param(ids)}::uuid[]) AND found_at < ${moment(until)}
      AND (last.state IS DISTINCT FROM 'REPAIRED' OR last.at >= ${moment(Math.min(from, until - LATELY_MS))})
    ORDER BY found_at, fault.id`);
  const bySensor = new Map<string, FaultCourse[]>();
  for (const { sensor_id, found_at, since, ...fault } of rows) {
    const faults = bySensor.get(sensor_id) ?? [];
    bySensor.set(sensor_id, faults);
    const repairedAt = fault.state === 'REPAIRED' && since !== null ? new Date(since).getTime() : null;
    faults.push({ ...fault, foundAt: new Date(found_at).getTime(), repairedAt });
  }
  return bySensor;
}

async function countRejectedCases(
  db: Executor,
  ids: readonly string[],
  { from, until }: Interval,
): Promise<ReadonlyMap<string, number>> {
  // Plan: cases_of_sensor.
  const { rows } = await db.execute<{ id: string; n: number }>(sql`
    SELECT sensor_id AS id, count(*) AS n FROM cases
    WHERE sensor_id = ANY (${sql.param(ids)}::uuid[]) AND code = 'EQUIPMENT'
      AND happened_at >= ${moment(from)} AND happened_at < ${moment(until)}
    GROUP BY 1`);
  return new Map(rows.map(({ id, n }) => [id, n]));
}

function wanted({ sensorId, locationId, sensorType }: ReportFilters): SQL[] {
  return [
    ...refersTo(sql`s.id`, sensorId),
    ...refersTo(sql`s.location_id`, locationId),
    ...(sensorType === undefined ? [] : [sql`s.type = ${sensorType}`]),
  ];
}

async function findBefore(
  db: Executor,
  ids: readonly string[],
  time: number,
): Promise<ReadonlyMap<string, SensorStatus>> {
  // Plan: sensor_status_history_of_sensor backwards from its end, for each sensor.
  const { rows } = await db.execute<{ id: string; to_status: SensorStatus }>(sql`
    SELECT wanted.id, last.to_status FROM unnest(${sql.param(ids)}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
      SELECT to_status FROM sensor_status_history
      WHERE sensor_id = wanted.id AND at < ${moment(time)}
      ORDER BY id DESC LIMIT 1
    ) AS last`);
  return new Map(rows.map(({ id, to_status }) => [id, to_status]));
}

async function findChanges(
  db: Executor,
  ids: readonly string[],
  interval: Interval,
): Promise<ReadonlyMap<string, StatusChange[]>> {
  const bySensor = new Map<string, StatusChange[]>();
  const isWanted = sql`sensor_id = ANY(${sql.param(ids)}::uuid[])`;
  for (const { sensorId, ...change } of await listStatusChanges(db, interval, isWanted)) {
    const changes = bySensor.get(sensorId) ?? [];
    bySensor.set(sensorId, changes);
    changes.push(change);
  }
  return bySensor;
}

/** The changes of an interval, in order; of all sensors, or of those that meet a condition. */
export async function listStatusChanges(
  db: Executor,
  { from, until }: Interval,
  condition: SQL = sql`true`,
): Promise<(StatusChange & { sensorId: string })[]> {
  const { rows } = await db.execute<ChangeRecord>(sql`
    SELECT sensor_id, from_status, to_status, at, reason FROM sensor_status_history
    WHERE at >= ${moment(from)} AND at < ${moment(until)} AND ${condition} ORDER BY id`);
  return rows.map((row) => ({
    sensorId: row.sensor_id,
    from: row.from_status,
    to: row.to_status,
    at: new Date(row.at).getTime(),
    reason: row.reason,
  }));
}

/** A sensor with its status at a time, or the first one after it. Times are in Unix milliseconds. */
export interface SensorBefore {
  readonly id: string;
  readonly status: SensorStatus;
  readonly createdAt: number;
  /** Null unless it was deleted. */
  readonly deletedAt: number | null;
  /** Null for none. */
  readonly firstContact: number | null;
}

/** Every sensor with its status at a time, including those that were deleted since. */
export async function listStatusesBefore(db: Executor, time: number): Promise<SensorBefore[]> {
  // Plan: sensor_status_history as a whole, whose first and last entries of a deleted sensor are its registration and
  // its deletion; then sensor_status_history_of_sensor, in both directions from the time, for each sensor.
  const { rows } = await db.execute<{
    id: string;
    status: SensorStatus;
    created_at: string;
    deleted_at: string | null;
    first_contact: string | null;
  }>(sql`
    WITH known AS (
      SELECT id, status, created_at, NULL::timestamptz AS deleted_at FROM sensors
      UNION ALL
      SELECT sensor_id, 'OFFLINE', min(at), max(at) FROM sensor_status_history
      WHERE NOT EXISTS (SELECT FROM sensors WHERE sensors.id = sensor_id)
      GROUP BY 1 HAVING max(at) > ${moment(time)}
    )
    SELECT s.id, s.created_at, s.deleted_at, ${firstContact(sql`s.id`)} AS first_contact, coalesce(
      (SELECT to_status FROM sensor_status_history h
        WHERE h.sensor_id = s.id AND h.at < ${moment(time)} ORDER BY h.id DESC LIMIT 1),
      (SELECT from_status FROM sensor_status_history h
        WHERE h.sensor_id = s.id AND h.at >= ${moment(time)} ORDER BY h.id LIMIT 1),
      s.status) AS status
    FROM known s`);
  return rows.map(({ id, status, created_at, deleted_at, first_contact }) => ({
    id,
    status,
    createdAt: new Date(created_at).getTime(),
    deletedAt: deleted_at === null ? null : new Date(deleted_at).getTime(),
    firstContact: first_contact === null ? null : new Date(first_contact).getTime(),
  }));
}
