import { sql } from 'drizzle-orm';
import { locks } from '../platform/database/locks.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { Check, Difference } from './check.ts';

const KEYS = 'event_type, violation_type, vehicle_type, severity, processed, archived';
const keys = sql.raw(KEYS);

// Each of these is read by one statement, so that what is stored meanwhile is either in both sides or in neither.

const HOURS = sql`
  SELECT hour, ${keys}, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (
    SELECT event_hour(id) AS hour, event_type, coalesce(violation_type, '') AS violation_type,
      coalesce(vehicle_type, '') AS vehicle_type, coalesce(severity, 0) AS severity, processed, archived, count(*) AS n
    FROM events GROUP BY 1, 2, 3, 4, 5, 6, 7
  ) AS counted FULL JOIN (
    SELECT hour, ${keys}, sum(n)::bigint AS n FROM event_totals GROUP BY 1, 2, 3, 4, 5, 6, 7
  ) AS kept USING (hour, ${keys})
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

const PERIODS = sql`
  SELECT period, start, ${keys}, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (
    SELECT period, date_trunc(period, hour AT TIME ZONE 'UTC')::date AS start, ${keys}, sum(n)::bigint AS n
    FROM event_totals_folded CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS longer (period)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ) AS counted FULL JOIN event_period_totals AS kept USING (period, start, ${keys})
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

const ARRIVALS = sql`
  SELECT hour, coalesce(counted.n, 0) AS counted, coalesce(kept.n, 0) AS kept
  FROM (SELECT date_trunc('hour', created_at, 'UTC') AS hour, count(*) AS n FROM events GROUP BY 1) AS counted
  FULL JOIN (SELECT hour, sum(n)::bigint AS n FROM event_arrivals GROUP BY 1) AS kept USING (hour)
  WHERE coalesce(counted.n, 0) <> coalesce(kept.n, 0)`;

type Query = ReturnType<typeof sql>;

const finding =
  (query: Query) =>
  async (db: Executor, limit: number): Promise<Difference[]> => {
    const { rows } = await db.execute(sql`${query} LIMIT ${limit}`);
    return rows;
  };

const changing = async (tx: Transaction, statement: Query): Promise<number> => {
  await tx.execute(sql`SELECT pg_advisory_xact_lock(${locks.fold})`);
  const { rowCount } = await tx.execute(statement);
  return rowCount ?? 0;
};

export const totalsChecks: readonly Check[] = [
  {
    name: 'totals by hour',
    compares: 'event_totals with a count of events for each hour, type and state',
    find: finding(HOURS),
    // What is missing is added like any other change, and folded into the longer periods like it.
    repair: (tx) =>
      changing(
        tx,
        sql`INSERT INTO event_totals (hour, ${keys}, n) SELECT hour, ${keys}, counted - kept FROM (${HOURS}) AS wrong`,
      ),
  },
  {
    name: 'totals by day, month and year',
    compares: 'event_period_totals with the sums of the folded hours',
    find: finding(PERIODS),
    repair: (tx) =>
      changing(
        tx,
        sql`INSERT INTO event_period_totals AS known (period, start, ${keys}, n)
          SELECT period, start, ${keys}, counted - kept FROM (${PERIODS}) AS wrong
          ON CONFLICT (period, start, ${keys}) DO UPDATE SET n = known.n + excluded.n`,
      ),
  },
  {
    name: 'arrivals',
    compares: 'event_arrivals with a count of events for each hour in which they were stored',
    find: finding(ARRIVALS),
    repair: (tx) =>
      changing(
        tx,
        sql`INSERT INTO event_arrivals (hour, n) SELECT hour, counted - kept FROM (${ARRIVALS}) AS wrong`,
      ),
  },
];
