import type { Analytics } from '@gantry/contract/analytics';
import { sql } from 'drizzle-orm';
import { moment } from '../platform/database/moment.ts';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';

const LATEST = 200_000;

interface TimesRow extends Record<string, unknown> {
  n: number;
  mean: number | null;
  median: number | null;
  p90: number | null;
}

const rounded = (seconds: number | null): number | null =>
  seconds === null ? null : Math.round(seconds * 1_000) / 1_000;

/** How long it took until events were marked as processed, of those that were marked within the interval; in seconds. */
export const getProcessingTime = async (
  db: Executor,
  { from, until }: Interval,
): Promise<Analytics['processingTime']> => {
  // Plan: events_by_processing from its end.
  const { rows } = await db.execute<TimesRow>(sql`
    SELECT count(*) AS n, avg(seconds) AS mean, percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) AS median,
      percentile_cont(0.9) WITHIN GROUP (ORDER BY seconds) AS p90
    FROM (
      SELECT extract(epoch FROM processed_at - created_at)::double precision AS seconds FROM events
      WHERE processed_at >= ${moment(from)}
        AND processed_at < ${moment(until)}
      ORDER BY processed_at DESC LIMIT ${LATEST}
    ) AS times`);
  const [row] = rows;
  return {
    count: row?.n ?? 0,
    mean: rounded(row?.mean ?? null),
    median: rounded(row?.median ?? null),
    p90: rounded(row?.p90 ?? null),
  };
};
