import { type Event, listEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { ReportFilters } from '@gantry/contract/reports';
import { type SQL, sql } from 'drizzle-orm';
import { violationCondition } from '../../events/counts/counting.ts';
import { idWithin } from '../../events/counts/totals.ts';
import { countedFilters, rowFilters } from '../../events/list/filters.ts';
import { rankOf } from '../../events/severity.ts';
import { type EventRecord, listedColumns, toEvent } from '../../events/store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { always, type History } from '../../platform/history.ts';
import type { Interval } from '../../platform/time.ts';
import { locationLimits } from '../../sensors/placements-store.ts';
import { quarterOf } from './counted-store.ts';

/** The conditions for events that match the filters of a report. */
async function eventConditions(
  db: Executor,
  { sensorId, locationId, severity, ...filters }: ReportFilters,
): Promise<SQL[]> {
  const { eventType, violationType, vehicleType, licensePlateNumber } = filters;
  const wanted = listEventsInput.parse({ eventType, violationType, vehicleType, licensePlateNumber });
  return [
    ...(await countedFilters(db, wanted)).map(({ onEvents }) => onEvents),
    ...rowFilters(wanted),
    ...refersTo(sql`sensor_id`, sensorId),
    ...refersTo(sql`location_id`, locationId),
    ...(severity === undefined ? [] : [sql`severity = ${rankOf(severity)}`]),
  ];
}

type ViolationRecord = EventRecord & { location_id: string | null };

/** The next violations of an interval after an id, in the order of time. */
export async function listViolations(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
  after: string | null,
  take: number,
): Promise<(Event & { readonly locationId: string | null })[]> {
  // Plan: events_pkey of a month from the last id on, or the index of a filter.
  const { rows } = await db.execute<ViolationRecord>(sql`
    SELECT ${listedColumns}, location_id FROM events
    WHERE ${await conditions(db, filters, interval)} ${after === null ? sql`` : sql`AND id > ${after}::uuid`}
    ORDER BY id LIMIT ${take}`);
  return rows.map((row) => ({ ...toEvent(row), locationId: row.location_id }));
}

/** The speed limits (km/h) of these locations over time, even if they were deleted since. */
export async function findSpeedLimits(
  db: Executor,
  locationIds: readonly string[],
): Promise<Map<string, History<number | null>>> {
  if (locationIds.length === 0) return new Map();
  const { rows } = await db.execute<{ id: string; speed_limit: number | null }>(
    sql`SELECT id, speed_limit FROM locations WHERE id = ANY(${sql.param(locationIds)}::uuid[])`,
  );
  const changed = await locationLimits.read(db, locationIds);
  return new Map([...rows.map(({ id, speed_limit }) => [id, always(speed_limit)] as const), ...changed]);
}

export interface ViolationCount extends Record<string, unknown> {
  /** The start of the quarter hour. */
  readonly quarter: string;
  readonly kind: string;
  readonly n: number;
}

/** The violations of an interval by quarter hour and type. */
export async function countViolations(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
): Promise<ViolationCount[]> {
  const { rows } = await db.execute<ViolationCount>(sql`
    SELECT ${quarterOf(sql`event_time(id)`)} AS quarter, coalesce(violation_type, event_type) AS kind, count(*) AS n FROM events
    WHERE ${await conditions(db, filters, interval)} GROUP BY 1, 2`);
  return rows;
}

/** The violations of an interval by the name of their place. */
export async function countViolationsByPlace(
  db: Executor,
  filters: ReportFilters,
  interval: Interval,
): Promise<{ place: string; n: number }[]> {
  const { rows } = await db.execute<{ place: string; n: number }>(sql`
    SELECT coalesce(location_name, sensor_name, 'unknown') AS place, count(*) AS n FROM events
    WHERE ${await conditions(db, filters, interval)} GROUP BY 1`);
  return rows;
}

function refersTo(column: SQL, id: string | undefined): SQL[] {
  if (id === undefined) return [];
  return [isUuid(id) ? sql`${column} = ${id}::uuid` : sql`false`];
}

async function conditions(db: Executor, filters: ReportFilters, interval: Interval): Promise<SQL> {
  return sql.join(
    [violationCondition, ...idWithin(interval), ...(await eventConditions(db, filters))],
    sql` AND `,
  );
}
