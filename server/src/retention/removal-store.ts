import type { EventType } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { firstIdAt } from '../events/id.ts';
import type { EventMonth } from '../events/months-store.ts';
import { moment } from '../platform/database/moment.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

const KEYS = sql.raw('event_type, violation_type, vehicle_type, severity, processed, archived');
const firstId = (time: number): SQL => sql`${firstIdAt(time)}::uuid`;

/** How many events of a type and a month went. */
export interface RemovedEvents {
  readonly eventType: EventType;
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
}

const MONTH = sql.raw(`to_char(event_time(id) AT TIME ZONE 'UTC', 'YYYY-MM')`);

/** The first ids of a type within an interval that come after one, in their order. */
export const pageOfIds = async (
  db: Executor,
  eventType: EventType,
  { from, until }: Interval,
  after: string | null,
  limit: number,
): Promise<string[]> => {
  const start = after === null ? sql`id >= ${firstId(from)}` : sql`id > ${after}::uuid`;
  // Plan: events_by_type of one partition.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM events WHERE event_type = ${eventType} AND ${start} AND id < ${firstId(until)}
    ORDER BY id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
};

/**
 * Removes events for good, and takes them off what counts the events that there are. Traffic stays counted: what passed
 * did pass, whatever becomes of its events.
 */
export const removeEvents = async (tx: Executor, ids: readonly string[]): Promise<RemovedEvents[]> => {
  const { rows } = await tx.execute<RemovedEvents & Record<string, unknown>>(sql`
    WITH gone AS (
      DELETE FROM events WHERE id = ANY (${sql.param(ids)}::uuid[])
      RETURNING id, event_type, violation_type, vehicle_type, severity, processed, archived, created_at
    ), arrivals AS (
      INSERT INTO event_arrivals (hour, n)
      SELECT date_trunc('hour', created_at, 'UTC'), -count(*) FROM gone GROUP BY 1
    ), counted AS (
      INSERT INTO event_totals (hour, ${KEYS}, n)
      SELECT event_hour(id), event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''),
        coalesce(severity, 0), processed, archived, -count(*)
      FROM gone GROUP BY 1, 2, 3, 4, 5, 6, 7
    ), pictures AS (
      DELETE FROM event_images WHERE event_id IN (SELECT id FROM gone)
    )
    SELECT event_type AS "eventType", ${MONTH} AS month, count(*) AS rows FROM gone GROUP BY 1, 2`);
  return rows.map(({ eventType, month, rows: n }) => ({ eventType, month, rows: n }));
};

/** How long to wait for those who write into a month, and for its vacuum, which makes way after a second. */
const WRITERS_WAIT_MS = 3_000;
/** While the last step is waited for, everybody else waits behind it for events of any month: so briefly. */
const EVERYBODY_WAITS_MS = 300;

/** Lets statements of the transaction wait for a lock for so long at most. */
const waitForLocksAtMost = async (tx: Executor, ms: number): Promise<void> => {
  await tx.execute(sql`SELECT set_config('lock_timeout', ${`${ms}ms`}, true)`);
};

/**
 * Takes a partition of events away as a whole, off everything that counts the events that there are; nobody writes into it
 * from here to the end of the transaction. Traffic stays counted, as in `removeEvents`.
 * @throws an error of SQLSTATE 55P03 when somebody uses it, or events as a whole, for too long: then try again
 */
export const dropMonth = async (
  tx: Transaction,
  { table, from, until }: EventMonth,
): Promise<RemovedEvents[]> => {
  await waitForLocksAtMost(tx, WRITERS_WAIT_MS);
  await tx.execute(sql`LOCK TABLE ${sql.raw(table)} IN SHARE ROW EXCLUSIVE MODE`);
  const { rows } = await tx.execute<RemovedEvents & Record<string, unknown>>(sql`
    SELECT event_type AS "eventType", ${MONTH} AS month, count(*) AS rows FROM ${sql.raw(table)} GROUP BY 1, 2`);
  await tx.execute(sql`
    INSERT INTO event_arrivals (hour, n)
    SELECT date_trunc('hour', created_at, 'UTC'), -count(*) FROM ${sql.raw(table)} GROUP BY 1`);
  // The totals say of the month what its rows say, so they are brought to nothing without reading these.
  await tx.execute(sql`
    INSERT INTO event_totals (hour, ${KEYS}, n)
    SELECT hour, ${KEYS}, -sum(n) FROM event_totals WHERE hour >= ${moment(from)} AND hour < ${moment(until)}
    GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0`);
  await waitForLocksAtMost(tx, EVERYBODY_WAITS_MS);
  await tx.execute(sql`DROP TABLE ${sql.raw(table)}`);
  return rows.map(({ eventType, month, rows: n }) => ({ eventType, month, rows: n }));
};
