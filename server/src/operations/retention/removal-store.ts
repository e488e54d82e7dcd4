import type { EventType } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import { ENTRIES_UNDER_AUDIT } from '../../audit/store.ts';
import { HOUR_OF_ARRIVAL, totalsKeys } from '../../events/counts/counting.ts';
import { divideByEvents } from '../../events/counts/totals.ts';
import { firstIdAt } from '../../events/id.ts';
import type { EventMonth } from '../../events/partitions.ts';
import type { RemovedCount } from '../../events/remove-store.ts';
import { removeReviewsWithin } from '../../events/reviews-store.ts';
import { waitForLocksAtMost } from '../../platform/database/locks.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';

/** The next ids of a type within an interval after an id, in order. */
export async function pageOfIds(
  db: Executor,
  eventType: EventType,
  { from, until }: Interval,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const start = after === null ? sql`id >= ${firstId(from)}` : sql`id > ${after}::uuid`;
  // Plan: events_by_type of one partition.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT id FROM events WHERE event_type = ${eventType} AND ${start} AND id < ${firstId(until)}
    ORDER BY id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/**
 * A condition on an event, by its id: nothing refers to it, so nothing came of it. A hit, or an alert, refers to it until it is
 * removed itself; an event whose follow-up is pending may still get one.
 */
export function isOfNoUse(id: SQL): SQL {
  return sql`NOT EXISTS (SELECT FROM watchlist_alerts WHERE event_id = ${id})
    AND NOT EXISTS (SELECT FROM watchlist_sightings WHERE event_id = ${id})
    AND NOT EXISTS (SELECT FROM incident_events WHERE event_id = ${id})
    AND NOT EXISTS (SELECT FROM event_reviews WHERE event_id = ${id})
    AND NOT EXISTS (SELECT FROM case_items WHERE event_id = ${id})
    AND NOT EXISTS (SELECT FROM events_to_follow_up WHERE event_id = ${id})`;
}

/**
 * The next ids of a type within an interval after an id, in order, and which of them are of no use. Look-backs that are not
 * finished still search the events since their start.
 */
export async function pageOfIdsWithoutHit(
  db: Executor,
  eventType: EventType,
  span: Interval,
  after: string | null,
  limit: number,
): Promise<{ readonly last: string | null; readonly ids: string[] }> {
  const ids = await pageOfIds(db, eventType, span, after, limit);
  // Plan: a hash of the page beside each of the other tables, which are small, and events_pkey.
  const { rows } = await db.execute<{ id: string }>(sql`
    SELECT events.id FROM events WHERE id = ANY (${sql.param(ids)}::uuid[]) AND coalesce(violation_type, '') = ''
      AND ${isOfNoUse(sql`events.id`)} AND NOT EXISTS (
        SELECT FROM hotlist_look_backs WHERE due_at IS NOT NULL AND starts_at <= event_time(events.id))
    ORDER BY id`);
  return { last: ids.at(-1) ?? null, ids: rows.map(({ id }) => id) };
}

/** Maximum wait for writers of a month, and for its vacuum, which yields after a second. */
const WRITERS_WAIT_MS = 3_000;

/** During the last step all other statements on events wait behind it, so this wait is short. */
const EVERYBODY_WAITS_MS = 300;

/**
 * Events stored before this time can only be removed: no transaction that stores events takes so long. The time stays
 * the same until the transaction ends.
 */
const SETTLED = sql.raw(`now() - interval '10 minutes'`);

/**
 * Drops a partition of events and subtracts its events from the totals. No other transaction can write into it until
 * this one ends. Traffic counts are kept.
 * @throws an error of SQLSTATE 55P03 when the partition, or events as a whole, is in use for too long: then try again
 */
export async function dropMonth(tx: Transaction, month: EventMonth): Promise<RemovedCount[]> {
  const { table, from, until } = month;
  // Late events wait for the lock, and other events wait with them, so nearly all events are counted before it is
  // taken.
  const earlier = await countArrivals(tx, month, sql`created_at < ${SETTLED}`);
  await waitForLocksAtMost(tx, WRITERS_WAIT_MS);
  await tx.execute(sql`LOCK TABLE ${sql.raw(table)} IN SHARE ROW EXCLUSIVE MODE`);
  // Counted before anything is written: streams wait for transactions that have written.
  const arrivals = await completeArrivals(tx, month, earlier);
  await tx.execute(sql`
    INSERT INTO event_arrivals (hour, n)
    SELECT to_timestamp(start), -n FROM unnest(
      ${sql.param([...arrivals.keys()])}::bigint[], ${sql.param([...arrivals.values()])}::bigint[]
    ) AS hours (start, n)`);
  // The totals of the month equal its rows, so they are cleared, and the rows counted, without reading the rows.
  const { rows } = await tx.execute<RemovedCount & Record<string, unknown>>(sql`
    WITH cleared AS (
      INSERT INTO event_totals (hour, ${totalsKeys}, n)
      SELECT hour, ${totalsKeys}, -sum(n) FROM event_totals WHERE hour >= ${moment(from)} AND hour < ${moment(until)}
      GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
      RETURNING hour, event_type, n
    )
    SELECT event_type AS "eventType", to_char(hour AT TIME ZONE 'UTC', 'YYYY-MM') AS month, -sum(n)::bigint AS rows
    FROM cleared GROUP BY 1, 2 HAVING sum(n) <> 0`);
  await removeReviewsWithin(tx, { from, until });
  await waitForLocksAtMost(tx, EVERYBODY_WAITS_MS);
  await tx.execute(sql`DROP TABLE ${sql.raw(table)}`);
  // Reviews that were committed while this transaction waited for the lock.
  await removeReviewsWithin(tx, { from, until });
  return rows;
}

/** The number of records of one month that were removed. */
export interface RemovedRecords extends Record<string, unknown> {
  /** `YYYY-MM` in UTC. */
  readonly month: string;
  readonly rows: number;
  readonly bytes: number;
}

/** Removes the oldest entries of the activity log that were written before a time, except those under audit. */
export async function removeActivityBefore(
  tx: Executor,
  cutoff: number,
  limit: number,
): Promise<RemovedRecords[]> {
  // Plan: activity_pkey. Ids nearly follow the time, so due entries come first.
  const { rows } = await tx.execute<RemovedRecords>(sql`
    WITH gone AS (
      DELETE FROM activity WHERE at < ${moment(cutoff)}
        AND id IN (SELECT id FROM activity WHERE id NOT IN ${ENTRIES_UNDER_AUDIT} ORDER BY id LIMIT ${limit})
      RETURNING at
    )
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows, 0 AS bytes FROM gone GROUP BY 1`);
  return rows;
}

/** Removes entries of the log of the control room that were written before a time, and shifts that ended before it. */
export async function removeLogBefore(
  tx: Executor,
  cutoff: number,
  limit: number,
): Promise<RemovedRecords[]> {
  // Plan: log_entries_by_creation, shifts_by_end.
  const { rows } = await tx.execute<RemovedRecords>(sql`
    WITH entries AS (
      DELETE FROM log_entries WHERE id IN (
        SELECT id FROM log_entries WHERE created_at < ${moment(cutoff)} ORDER BY created_at LIMIT ${limit}
      ) RETURNING created_at AS at
    ), ended AS (
      DELETE FROM shifts WHERE id IN (
        SELECT id FROM shifts WHERE ended_at < ${moment(cutoff)} ORDER BY ended_at LIMIT ${limit}
      ) RETURNING ended_at AS at
    )
    SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows, 0 AS bytes
    FROM (SELECT at FROM entries UNION ALL SELECT at FROM ended) AS gone GROUP BY 1`);
  return rows;
}

/** Removes cases that were closed before a time, with all that belongs to them. Their seals remain. */
export async function removeCasesBefore(
  tx: Executor,
  cutoff: number,
  limit: number,
): Promise<RemovedRecords[]> {
  // Plan: cases_by_closing.
  const { rows: due } = await tx.execute<{ id: string }>(sql`
    SELECT id FROM cases WHERE closed_at < ${moment(cutoff)} ORDER BY closed_at LIMIT ${limit} FOR UPDATE`);
  const ids = sql`ANY (${sql.param(due.map(({ id }) => id))}::uuid[])`;
  // The entries go first: what protects them asks for their case.
  await tx.execute(sql`
    WITH gone AS (DELETE FROM case_log WHERE case_id = ${ids} RETURNING id)
    INSERT INTO removed_case_log (id) SELECT id FROM gone`);
  await tx.execute(sql`DELETE FROM case_items WHERE case_id = ${ids}`);
  const { rows } = await tx.execute<RemovedRecords>(sql`
    WITH gone AS (DELETE FROM cases WHERE id = ${ids} RETURNING closed_at)
    SELECT to_char(closed_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows, 0 AS bytes FROM gone GROUP BY 1`);
  return rows;
}

/** Situation reports are kept as long as their incident. */
const NOT_KEPT = sql.raw('NOT EXISTS (SELECT FROM situation_reports WHERE report_id = reports.id)');

/** Removes reports finished before a time. Their files are removed later (reports/start.ts). */
export async function removeReportsBefore(
  tx: Executor,
  cutoff: number,
  limit: number,
): Promise<RemovedRecords[]> {
  const { rows } = await tx.execute<RemovedRecords>(sql`
    WITH gone AS (
      DELETE FROM reports WHERE id IN (
        SELECT id FROM reports WHERE finished_at < ${moment(cutoff)} AND ${NOT_KEPT} ORDER BY finished_at LIMIT ${limit}
      ) RETURNING created_at, size
    )
    SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') AS month, count(*) AS rows,
      coalesce(sum(size), 0)::bigint AS bytes
    FROM gone GROUP BY 1`);
  return rows;
}

/** Numbers of events by the hour in which they were stored, in Unix seconds. */
type Arrivals = ReadonlyMap<number, number>;

/**
 * Adds the events stored since `SETTLED` to the earlier ones, which were counted before the partition was locked. If
 * the sum differs from the totals, some have been deleted meanwhile, and all are counted again.
 */
async function completeArrivals(tx: Executor, month: EventMonth, earlier: Arrivals): Promise<Arrivals> {
  const arrivals = new Map(earlier);
  // Plan: events_by_creation of the partition.
  const later = await countArrivals(tx, month, sql`created_at >= ${SETTLED}`);
  for (const [start, n] of later) arrivals.set(start, (arrivals.get(start) ?? 0) + n);
  const { rows } = await tx.execute<{ n: number }>(sql`
    SELECT coalesce(sum(n), 0)::bigint AS n FROM event_totals
    WHERE hour >= ${moment(month.from)} AND hour < ${moment(month.until)}`);
  const counted = [...arrivals.values()].reduce((sum, n) => sum + n, 0);
  return rows[0]?.n === counted ? arrivals : countArrivals(tx, month, sql`true`);
}

/** Counts those events of a partition that meet a condition. */
async function countArrivals(
  tx: Executor,
  { table, from, until }: EventMonth,
  condition: SQL,
): Promise<Arrivals> {
  const arrivals = new Map<number, number>();
  // In several statements, because one for a busy month would exceed the time limit of statements.
  for (const part of await divideByEvents(tx, { from, until })) {
    const { rows } = await tx.execute<{ start: number; n: number }>(sql`
      SELECT extract(epoch FROM ${sql.raw(HOUR_OF_ARRIVAL)})::bigint AS start, count(*) AS n
      FROM ${sql.raw(table)} WHERE id >= ${firstId(part.from)} AND id < ${firstId(part.until)} AND ${condition}
      GROUP BY 1`);
    for (const { start, n } of rows) arrivals.set(start, (arrivals.get(start) ?? 0) + n);
  }
  return arrivals;
}

function firstId(time: number): SQL {
  return sql`${firstIdAt(time)}::uuid`;
}
