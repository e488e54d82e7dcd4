import { sql } from 'drizzle-orm';
import { keysOfEvent, totalsKeys } from '../../events/counts/counting.ts';
import { addToPeriods, MAX_ROLLED_UP_AT_ONCE, rollUpCounts } from '../../events/counts/roll-up.ts';
import { locks } from '../../platform/database/locks.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';
import type { Check, Difference, Rebuild, Rebuilding } from './check.ts';

// Each of these is read by one statement, so that events stored meanwhile are either on both sides or on neither. On a
// cluster, a snapshot of all nodes is necessary as well (checks.ts).

const HOURS = sql`
  SELECT hour, ${totalsKeys}, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (
    SELECT event_hour(id), ${keysOfEvent}, count(*) FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7
  ) AS counted (hour, ${totalsKeys}, n) FULL JOIN (
    SELECT hour, ${totalsKeys}, sum(n)::bigint AS n FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7
  ) AS kept USING (hour, ${totalsKeys})
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

const PERIODS = sql`
  SELECT period, start, ${totalsKeys}, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (
    SELECT period, date_trunc(period, hour AT TIME ZONE 'UTC')::date AS start, ${totalsKeys}, sum(n)::bigint AS n
    FROM event_totals_folded CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS longer (period)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ) AS counted FULL JOIN event_period_totals AS kept USING (period, start, ${totalsKeys})
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

const ARRIVALS = sql`
  SELECT hour, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (SELECT date_trunc('hour', created_at, 'UTC') AS hour, count(*) AS n FROM events GROUP BY 1) AS counted
  FULL JOIN (SELECT hour, sum(n)::bigint AS n FROM event_arrivals GROUP BY 1) AS kept USING (hour)
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

type Query = ReturnType<typeof sql>;

function finding(query: Query) {
  return async (db: Executor, limit: number): Promise<Difference[]> => {
    const { rows } = await db.execute(sql`${query} LIMIT ${limit}`);
    return rows;
  };
}

/** Keeps the roll-up of counts away. */
async function lockRollUp(tx: Transaction): Promise<void> {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.rollUp})`);
}

async function rollUpAll({ db }: Rebuilding): Promise<void> {
  while ((await rollUpCounts(db, MAX_ROLLED_UP_AT_ONCE)) > 0);
}

/** Sums up the longer periods again, and counts what is missing like any other change. */
export const rebuildTotals: Rebuild = async (rebuilding) => {
  const rows = await rebuilding.change(async (tx) => {
    await lockRollUp(tx);
    await tx.execute(sql`DELETE FROM event_period_totals`);
    const periods = await tx.execute(addToPeriods(sql`event_totals_folded`));
    const hours = await tx.execute(sql`
      INSERT INTO event_totals (hour, ${totalsKeys}, n)
      SELECT hour, ${totalsKeys}, counted - kept FROM (${HOURS}) AS wrong`);
    return (periods.rowCount ?? 0) + (hours.rowCount ?? 0);
  });
  await rollUpAll(rebuilding);
  return rows;
};

export const rebuildArrivals: Rebuild = async (rebuilding) => {
  const rows = await rebuilding.change(async (tx) => {
    await lockRollUp(tx);
    const { rowCount } = await tx.execute(sql`
      INSERT INTO event_arrivals (hour, n) SELECT hour, counted - kept FROM (${ARRIVALS}) AS wrong`);
    return rowCount ?? 0;
  });
  await rollUpAll(rebuilding);
  return rows;
};

export const totalsChecks: readonly Check[] = [
  {
    name: 'totals by hour',
    compares: 'event_totals with a count of events for each hour, type and state',
    find: finding(HOURS),
    rebuild: 'totals',
  },
  {
    name: 'totals by day, month and year',
    compares: 'event_period_totals with the sums of the rolled-up hours',
    find: finding(PERIODS),
    rebuild: 'totals',
  },
  {
    name: 'arrivals',
    compares: 'event_arrivals with a count of events for each hour in which they were stored',
    find: finding(ARRIVALS),
    rebuild: 'arrivals',
  },
];
