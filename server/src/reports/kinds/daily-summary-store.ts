import type { EventType } from '@gantry/contract/events';
import type { SensorStatus } from '@gantry/contract/sensors';
import { sql } from 'drizzle-orm';
import { countedEvents, idWithin } from '../../events/counts/totals.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { firstContact } from '../../sensors/status-store.ts';
import type { StatusChange } from './status-periods.ts';

export interface DayCount extends Record<string, unknown> {
  readonly event_type: EventType;
  /** '' for none. */
  readonly violation_type: string;
  readonly n: number;
}

/** The events of an interval by event type and violation type, from the totals. */
export async function countEventsOf(db: Executor, interval: Interval): Promise<DayCount[]> {
  const { rows } = await db.execute<DayCount>(sql`
    SELECT event_type, violation_type, sum(n)::bigint AS n FROM ${countedEvents(interval)}
    GROUP BY 1, 2 HAVING sum(n) > 0`);
  return rows;
}

/** The events of an interval by the name of their location; those without one are left out. */
export async function countEventsByLocation(
  db: Executor,
  interval: Interval,
): Promise<{ location: string; n: number }[]> {
  // Plan: events_pkey for the range of ids.
  const { rows } = await db.execute<{ location: string; n: number }>(sql`
    SELECT location_name AS location, count(*) AS n FROM events
    WHERE ${sql.join([sql`location_name IS NOT NULL`, ...idWithin(interval)], sql` AND `)} GROUP BY 1`);
  return rows;
}

/** The numbers of incidents opened and resolved in an interval. */
export async function countIncidentsOf(
  db: Executor,
  { from, until }: Interval,
): Promise<{ opened: number; resolved: number }> {
  const [start, end] = [new Date(from).toISOString(), new Date(until).toISOString()];
  const { rows } = await db.execute<{ opened: number; resolved: number }>(sql`
    SELECT
      (SELECT count(*) FROM incidents
        WHERE opened_at >= ${start}::timestamptz AND opened_at < ${end}::timestamptz) AS opened,
      (SELECT count(*) FROM incidents
        WHERE resolved_at >= ${start}::timestamptz AND resolved_at < ${end}::timestamptz) AS resolved`);
  return rows[0] ?? { opened: 0, resolved: 0 };
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

interface ChangeRecord extends Record<string, unknown> {
  sensor_id: string;
  from_status: SensorStatus | null;
  to_status: SensorStatus;
  at: string;
  reason: string;
}

/** All changes of an interval, in order. */
export async function listStatusChanges(
  db: Executor,
  { from, until }: Interval,
): Promise<(StatusChange & { sensorId: string })[]> {
  const { rows } = await db.execute<ChangeRecord>(sql`
    SELECT sensor_id, from_status, to_status, at, reason FROM sensor_status_history
    WHERE at >= ${moment(from)} AND at < ${moment(until)} ORDER BY id`);
  return rows.map((row) => ({
    sensorId: row.sensor_id,
    from: row.from_status,
    to: row.to_status,
    at: new Date(row.at).getTime(),
    reason: row.reason,
  }));
}
