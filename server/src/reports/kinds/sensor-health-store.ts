import { isUuid } from '@gantry/contract/id';
import type { ReportFilters } from '@gantry/contract/reports';
import type { SensorStatus } from '@gantry/contract/sensors';
import { type SQL, sql } from 'drizzle-orm';
import { sortedName } from '../../platform/database/case-folded.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { firstContact } from '../../sensors/status-store.ts';
import type { StatusChange, WatchedSensor } from './status-periods.ts';

export interface NamedSensor extends WatchedSensor {
  readonly id: string;
  readonly name: string;
  readonly deviceId: string;
  readonly type: string;
  readonly location: string | null;
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

/** The next sensors after a name and id, with their status changes within the interval. */
export async function listSensorsWithHistory(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
  after: { name: string; id: string } | null,
  take: number,
): Promise<NamedSensor[]> {
  const behind =
    after === null
      ? []
      : [sql`(${sortedName(sql`s.name`)}, s.id) > (${sortedName(sql`${after.name}`)}, ${after.id}::uuid)`];
  const { rows } = await db.execute<SensorRecord>(sql`
    SELECT s.id, s.name, s.device_id, s.type, s.status, s.created_at, l.name AS location,
      ${firstContact(sql`s.id`)} AS first_contact
    FROM sensors s LEFT JOIN locations l ON l.id = s.location_id
    WHERE ${sql.join([sql`true`, ...wanted(filters), ...behind], sql` AND `)}
    ORDER BY ${sortedName(sql`s.name`)}, s.id LIMIT ${take}`);
  const ids = rows.map(({ id }) => id);
  const before = await findBefore(db, ids, interval.from);
  const changes = await findChanges(db, ids, interval);
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
  }));
}

function equals(column: SQL, value: string | undefined): SQL[] {
  if (value === undefined) return [];
  return [isUuid(value) ? sql`${column} = ${value}::uuid` : sql`false`];
}

function wanted({ sensorId, locationId, sensorType }: ReportFilters): SQL[] {
  return [
    ...equals(sql`s.id`, sensorId),
    ...equals(sql`s.location_id`, locationId),
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
  { from, until }: Interval,
): Promise<ReadonlyMap<string, StatusChange[]>> {
  const { rows } = await db.execute<ChangeRecord>(sql`
    SELECT sensor_id, from_status, to_status, at, reason FROM sensor_status_history
    WHERE sensor_id = ANY(${sql.param(ids)}::uuid[])
      AND at >= ${moment(from)} AND at < ${moment(until)}
    ORDER BY sensor_id, id`);
  const bySensor = new Map<string, StatusChange[]>();
  for (const { sensor_id, from_status, to_status, at, reason } of rows) {
    const changes = bySensor.get(sensor_id) ?? [];
    bySensor.set(sensor_id, changes);
    changes.push({ from: from_status, to: to_status, at: new Date(at).getTime(), reason });
  }
  return bySensor;
}
