import { type SQL, sql } from 'drizzle-orm';
import type { Logger } from 'pino';
import { locks } from '../../platform/database/locks.ts';
import type { Database } from '../../platform/database/pool.ts';
import { inTransaction, WITHOUT_WAITING } from '../../platform/database/transaction.ts';
import { type Rounds, startPeriodic } from '../../platform/periodic.ts';
import type { Timings } from '../../platform/timings.ts';
import { totalsKeys, violationCondition } from './counting.ts';

/** Maximum number of rows of each kind in one transaction, so that it ends within a fraction of a second. */
export const MAX_ROLLED_UP_AT_ONCE = 20_000;

/**
 * Rolls up new counts again and again until it is disposed of; disposing waits for the current transaction. Counts
 * are correct without that; it keeps the number of rows low.
 */
export function startRollingUpCounts({
  db,
  log,
  timings,
}: {
  db: Database;
  log: Logger;
  timings: Pick<Timings, 'rollUpCountsMs'>;
}): Rounds {
  return startPeriodic(
    {
      everyMs: timings.rollUpCountsMs,
      restMs: 10 * timings.rollUpCountsMs,
      log,
      failure: 'the counts could not be rolled up now; the next run will try again',
    },
    async (isOver) => {
      let rolledUp = 0;
      do rolledUp = await rollUpCounts(db, MAX_ROLLED_UP_AT_ONCE);
      while (!isOver() && rolledUp >= MAX_ROLLED_UP_AT_ONCE);
      return rolledUp > 0;
    },
  );
}

/**
 * Rolls up at most `limit` rows of each kind, unless another process is doing so. Readers see the counts either before
 * or after it.
 * @returns the number of rows that were rolled up
 */
export async function rollUpCounts(db: Database, limit: number): Promise<number> {
  if (!(await isAnythingWaiting(db))) return 0;
  return inTransaction(db, async (tx) => {
    const { rows: locked } = await tx.execute<{ mine: boolean }>(
      sql`SELECT pg_try_advisory_xact_lock(${locks.rollUp}) AS mine, ${sql.raw(WITHOUT_WAITING)}`,
    );
    if (!locked[0]?.mine) return 0;
    const totals = await tx.execute<{ rows: number }>(rollUpTotalsQuery(limit));
    const arrivals = await tx.execute<{ rows: number }>(rollUpArrivalsQuery(limit));
    return (totals.rows[0]?.rows ?? 0) + (arrivals.rows[0]?.rows ?? 0);
  });
}

// Rows are written in the order of their keys. Plan: the new rows by their position, then the primary keys of
// the rolled-up hours and of the periods.
function rollUpTotalsQuery(limit: number) {
  return sql`
  WITH taken AS (
    DELETE FROM event_totals_unfolded
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM event_totals_unfolded LIMIT ${limit}))
    RETURNING hour, ${totalsKeys}, n
  ), hours AS (
    SELECT hour, ${totalsKeys}, sum(n)::bigint AS n FROM taken GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(n) <> 0
  ), added AS (
    INSERT INTO event_totals_folded AS known (hour, ${totalsKeys}, n, folded)
    SELECT *, true FROM hours ORDER BY 1, 2, 3, 4, 5, 6, 7
    ON CONFLICT (hour, ${totalsKeys}) DO UPDATE SET n = known.n + excluded.n
  ), summed AS (
    ${addToPeriods(sql`hours`)}
  ), together AS (
    ${addToHours(sql`hours`)}
  )
  SELECT count(*) AS rows FROM taken`;
}

/**
 * The statement that adds counts to those of days, months and years.
 * @param hours a table or query with the columns hour, the keys of the totals, and n
 */
export function addToPeriods(hours: SQL): SQL {
  return sql`
    INSERT INTO event_period_totals AS known (period, start, ${totalsKeys}, n)
    SELECT period, date_trunc(period, hour AT TIME ZONE 'UTC')::date, ${totalsKeys}, sum(n)
    FROM ${hours} CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS longer (period)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 HAVING sum(n) <> 0 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
    ON CONFLICT (period, start, ${totalsKeys}) DO UPDATE SET n = known.n + excluded.n`;
}

/** The same for the counts of hours of all keys together. */
export function addToHours(hours: SQL): SQL {
  return sql`
    INSERT INTO event_hour_totals AS known (hour, n, violations)
    SELECT hour, sum(n)::bigint, coalesce(sum(n) FILTER (WHERE ${violationCondition}), 0)::bigint FROM ${hours} GROUP BY 1 ORDER BY 1
    ON CONFLICT (hour) DO UPDATE SET n = known.n + excluded.n, violations = known.violations + excluded.violations`;
}

function rollUpArrivalsQuery(limit: number) {
  return sql`
  WITH taken AS (
    DELETE FROM event_arrivals_unfolded
    WHERE ctid = ANY (ARRAY(SELECT ctid FROM event_arrivals_unfolded LIMIT ${limit}))
    RETURNING hour, n
  ), added AS (
    INSERT INTO event_arrivals_folded AS known (hour, n, folded)
    SELECT hour, sum(n), true FROM taken GROUP BY 1 HAVING sum(n) <> 0 ORDER BY 1
    ON CONFLICT (hour) DO UPDATE SET n = known.n + excluded.n
  )
  SELECT count(*) AS rows FROM taken`;
}

/** Whether anything was counted since the last time. */
async function isAnythingWaiting(db: Database): Promise<boolean> {
  const { rows } = await db.execute<{ due: boolean }>(sql`
    SELECT EXISTS (SELECT FROM event_totals_unfolded) OR EXISTS (SELECT FROM event_arrivals_unfolded) AS due`);
  return rows[0]?.due ?? false;
}
