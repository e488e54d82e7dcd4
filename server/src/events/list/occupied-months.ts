import { sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../../platform/time.ts';
import { runsOf } from '../counts/covering.ts';

/** Maximum number of parts into which a history is divided. */
const MOST_SPANS = 8;

/** The number of empty partitions, such as that of the next month, up to which leaving them out is not worth it. */
const FEW_EMPTY = 2;

/**
 * The parts of an interval, in order, outside of which there are no events. A statement bounded by them leaves out
 * the partitions of other months when it is planned, which saves a millisecond each. If hardly any partition can be
 * left out, the interval itself is returned, because bounds make planning a partition 25 % slower.
 */
export async function occupiedSpans(db: Executor, interval: Interval): Promise<Interval[]> {
  // Plan: event_period_totals_pkey for each month from the first to the last; the unfolded rows are read whole.
  const { rows } = await db.execute<{ start: number; partitions: number }>(sql`
    SELECT (extract(epoch FROM start) * 1000)::bigint AS start,
      (SELECT count(*) FROM pg_inherits WHERE inhparent = 'events'::regclass) AS partitions
    FROM (
      SELECT start FROM (
        SELECT generate_series(min(start), max(start), interval '1 month')::date AS start
        FROM event_period_totals WHERE period = 'month'
      ) AS month WHERE EXISTS (
        SELECT FROM event_period_totals AS known WHERE period = 'month' AND known.start = month.start AND n > 0
      )
      UNION SELECT date_trunc('month', hour AT TIME ZONE 'UTC')::date FROM event_totals_unfolded WHERE n > 0
    ) AS occupied ORDER BY start`);
  const months = rows.map(({ start }) => start);
  const partitions = rows[0]?.partitions ?? 0;
  const isUnbroken = runsOf('month', months, ENDLESS).length === 1;
  if (isUnbroken && months.length >= partitions - FEW_EMPTY) return [interval];
  return joinNearest(runsOf('month', months, interval));
}

/** Closes the shortest gaps until there are few enough parts. */
function joinNearest(spans: readonly Interval[]): Interval[] {
  const joined = [...spans];
  while (joined.length > MOST_SPANS) {
    const gaps = joined.slice(1).map(({ from }, index) => from - (joined[index]?.until ?? 0));
    const at = gaps.indexOf(Math.min(...gaps));
    const [before, after] = joined.slice(at, at + 2);
    if (before && after) joined.splice(at, 2, { from: before.from, until: after.until });
  }
  return joined;
}
