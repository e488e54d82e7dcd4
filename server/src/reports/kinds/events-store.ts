import type { Coordinates } from '@gantry/contract/coordinates';
import { type Event, listEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { type SQL, sql } from 'drizzle-orm';
import { violationCondition } from '../../events/counts/counting.ts';
import { countedEvents, idWithin } from '../../events/counts/totals.ts';
import { countedFilters, listedConditions } from '../../events/list/filters.ts';
import { rankOf } from '../../events/severity.ts';
import { type EventRecord, listedColumns, toEvent } from '../../events/store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { ORIGIN } from '../../traffic/passed-store.ts';
import type { ReportScope } from '../document.ts';
import { untilNow } from './slices.ts';

/**
 * The number of events in a report, from the totals; null when it has a filter that the totals do not contain.
 * @param condition for the rows of totals
 */
export async function countByTotals(
  db: Executor,
  scope: ReportScope,
  condition: SQL = sql`true`,
): Promise<number | null> {
  const { eventType, processed, archived, violationType, vehicleType, severities, ...others } = scope.filters;
  if (Object.values(others).some((value) => value !== undefined)) return null;
  const input = listEventsInput.parse({
    eventType,
    processed,
    archived,
    violationType,
    vehicleType,
    severities,
  });
  const filters = (await countedFilters(db, input)).map(({ onTotals }) => onTotals);
  const { rows } = await db.execute<{ n: number }>(sql`
    SELECT coalesce(sum(n), 0)::bigint AS n FROM ${countedEvents(untilNow(scope))}
    WHERE ${sql.join([condition, ...filters], sql` AND `)}`);
  return rows[0]?.n ?? 0;
}

/** The start of the quarter hour of a time: in every time zone a local day begins with one, but not always with an hour in UTC. */
export function quarterOf(time: SQL): SQL {
  return sql`date_bin('15 minutes', ${time}, ${ORIGIN})`;
}

/** The conditions for events that match the filters of a report. */
export function eventConditions(db: Executor, scope: ReportScope): Promise<SQL[]> {
  return listedConditions(db, scope.filters, untilNow(scope), scope.settings.timezone);
}

/** The conditions for violations that match the filters of a report. */
export async function violationConditions(db: Executor, scope: ReportScope): Promise<SQL[]> {
  const { locationId, severity, ...filters } = scope.filters;
  return [
    violationCondition,
    ...(await eventConditions(db, { ...scope, filters })),
    ...refersTo(sql`location_id`, locationId),
    ...(severity === undefined ? [] : [sql`severity = ${rankOf(severity)}`]),
  ];
}

/** The condition that a column has an id; none without one. Text of another form is never the id of anything. */
export function refersTo(column: SQL, id: string | undefined): SQL[] {
  if (id === undefined) return [];
  return [isUuid(id) ? sql`${column} = ${id}::uuid` : sql`false`];
}

/** An event with its place, and the coordinates that its device reported, if any. */
export interface LocatedEvent extends Event {
  readonly locationId: string | null;
  readonly location: Coordinates | null;
}
type LocatedRecord = EventRecord & { location: Coordinates | null };

/** The next events of an interval after an id that meet the conditions, in the order of time. */
export async function listEventsAfter(
  db: Executor,
  conditions: readonly SQL[],
  interval: Interval,
  after: string | null,
  take: number,
): Promise<LocatedEvent[]> {
  const behind = after === null ? [] : [sql`id > ${after}::uuid`];
  // Plan: events_pkey of a month from the last id on, or the index of a filter.
  const { rows } = await db.execute<LocatedRecord>(sql`
    SELECT ${listedColumns}, location FROM events
    WHERE ${sql.join([...idWithin(interval), ...behind, ...conditions], sql` AND `)} ORDER BY id LIMIT ${take}`);
  return rows.map((row) => ({ ...toEvent(row), locationId: row.location_id, location: row.location }));
}

/** What events are counted by: their type, or for violations the more specific type of violation. */
export const countedTypes = {
  event: sql`event_type`,
  violation: sql`coalesce(violation_type, event_type)`,
} as const;

interface EventCount extends Record<string, unknown> {
  /** The start of the quarter hour. */
  readonly quarter: string;
  readonly type: string;
  readonly n: number;
}

/** The events of an interval that meet the conditions, by quarter hour and type. */
export async function countEventsByQuarter(
  db: Executor,
  conditions: readonly SQL[],
  interval: Interval,
  type: SQL,
): Promise<EventCount[]> {
  const { rows } = await db.execute<EventCount>(sql`
    SELECT ${quarterOf(sql`event_time(id)`)} AS quarter, ${type} AS type, count(*) AS n FROM events
    WHERE ${sql.join([...idWithin(interval), ...conditions], sql` AND `)} GROUP BY 1, 2`);
  return rows;
}

/** The events of an interval that meet the conditions, by the name of their place. */
export async function countEventsByPlace(
  db: Executor,
  conditions: readonly SQL[],
  interval: Interval,
): Promise<{ place: string; n: number }[]> {
  const { rows } = await db.execute<{ place: string; n: number }>(sql`
    SELECT coalesce(location_name, sensor_name, 'unknown') AS place, count(*) AS n FROM events
    WHERE ${sql.join([...idWithin(interval), ...conditions], sql` AND `)} GROUP BY 1`);
  return rows;
}
