import type { Coordinates } from '@gantry/contract/coordinates';
import { type SQL, sql } from 'drizzle-orm';
import { idWithin } from '../../events/counts/totals.ts';
import { type EventRecord, listedColumns, toEvent } from '../../events/store.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { quarterOf } from './counted-store.ts';
import type { PlacedEvent } from './event-rows.ts';

/** An event with the coordinates that its device reported, if any. */
export interface LocatedEvent extends PlacedEvent {
  readonly location: Coordinates | null;
}
type LocatedRecord = EventRecord & { location_id: string | null; location: Coordinates | null };

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
    SELECT ${listedColumns}, location_id, location FROM events
    WHERE ${sql.join([...idWithin(interval), ...behind, ...conditions], sql` AND `)} ORDER BY id LIMIT ${take}`);
  return rows.map((row) => ({ ...toEvent(row), locationId: row.location_id, location: row.location }));
}

export interface EventCount extends Record<string, unknown> {
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
): Promise<EventCount[]> {
  const { rows } = await db.execute<EventCount>(sql`
    SELECT ${quarterOf(sql`event_time(id)`)} AS quarter, event_type AS type, count(*) AS n FROM events
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
