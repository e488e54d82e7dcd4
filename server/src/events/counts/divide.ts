import { sql } from 'drizzle-orm';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { inPortions } from '../../platform/portions.ts';
import type { Interval } from '../../platform/time.ts';
import { startOf } from './covering.ts';

/**
 * Maximum number of events that one statement reads, which takes a second or two, and stays within the time limit of
 * statements on a busy machine, too.
 */
const READ_AT_ONCE = 1_000_000;

/**
 * Divides an interval at hours (in UTC), so that no part has more events than `most`, unless an hour has. By default, one
 * statement can read a part.
 */
export async function divideByEvents(
  db: Executor,
  { from, until }: Interval,
  most = READ_AT_ONCE,
): Promise<Interval[]> {
  // Plan: event_totals_folded_pkey. A month has at most some 50,000 rows of totals.
  const { rows: hours } = await db.execute<{ start: number; n: number }>(sql`
    SELECT (extract(epoch FROM hour) * 1000)::bigint AS start, sum(n)::bigint AS n FROM event_totals
    WHERE hour >= ${moment(startOf('hour', from))} AND hour < ${moment(until)} GROUP BY hour ORDER BY hour`);
  const [, ...further] = inPortions(hours, most, ({ n }) => n);
  const starts = [from, ...further.flatMap(([first]) => first?.start ?? [])];
  return starts.map((start, n) => ({ from: start, until: starts[n + 1] ?? until }));
}
