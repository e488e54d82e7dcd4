import { sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { runsOf } from './covering.ts';

/** Into how many parts a history is divided at most. */
const MOST_SPANS = 8;

/** Closes the shortest gaps, until there are few enough. */
const joinNearest = (spans: readonly Interval[]): Interval[] => {
  const joined = [...spans];
  while (joined.length > MOST_SPANS) {
    const gaps = joined.slice(1).map(({ from }, index) => from - (joined[index]?.until ?? 0));
    const at = gaps.indexOf(Math.min(...gaps));
    const [before, after] = joined.slice(at, at + 2);
    if (before && after) joined.splice(at, 2, { from: before.from, until: after.until });
  }
  return joined;
};

/**
 * The parts of an interval, in the order of time, outside of which there are no events. A statement that is bounded by them
 * leaves out the partitions of other months when it is planned; each of these costs a millisecond otherwise.
 */
export const occupiedSpans = async (db: Executor, interval: Interval): Promise<Interval[]> => {
  // Plan: event_period_totals_pkey at each month from the first to the last; what is not folded is read whole.
  const { rows } = await db.execute<{ start: number }>(sql`
    SELECT (extract(epoch FROM start) * 1000)::bigint AS start FROM (
      SELECT start FROM (
        SELECT generate_series(min(start), max(start), interval '1 month')::date AS start
        FROM event_period_totals WHERE period = 'month'
      ) AS month WHERE EXISTS (
        SELECT FROM event_period_totals AS known WHERE period = 'month' AND known.start = month.start AND n > 0
      )
      UNION SELECT date_trunc('month', hour AT TIME ZONE 'UTC')::date FROM event_totals_unfolded WHERE n > 0
    ) AS occupied ORDER BY start`);
  return joinNearest(
    runsOf(
      'month',
      rows.map(({ start }) => start),
      interval,
    ),
  );
};
