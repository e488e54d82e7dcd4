import { HOUR_MS } from '@gantry/contract/durations';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { endOf, type Period, runsOf } from '../counts/covering.ts';
import { countedByPeriod, hoursThatCount } from '../counts/totals.ts';
import { firstIdAt } from '../id.ts';
import { type TotalledFilter, where } from './filters.ts';

// Finds the place of a page in the history by counting the years, then the months of one year, the days of one month
// and the hours of one day. Each step reads some hundred counts, however long the history is.

/** The number of matching events in a period. */
export interface Count {
  /** Unix milliseconds. */
  readonly start: number;
  readonly n: number;
}

/** The periods of an interval that contain matching events, in order. */
export async function countByPeriod(
  db: Executor,
  period: Period,
  filters: readonly TotalledFilter[],
  interval: Interval,
): Promise<Count[]> {
  // Plan: event_period_totals_pkey for one period and a range of days, or event_totals_folded_pkey for the hours of a
  // day; events_pkey for the partial hours at the ends. With 10 million events of a year: all years 1.8 ms, the
  // months of one 2.3, the days of one 2.2, the hours of one 1.5 to 5.
  const { rows } = await db.execute<{ start: number; n: number }>(sql`
    SELECT (extract(epoch FROM at) * 1000)::bigint AS start, n FROM (
      SELECT at, sum(n)::bigint AS n FROM ${countedByPeriod(period, interval)} ${where(onTotals(filters))} GROUP BY at
    ) AS summed WHERE n > 0 ORDER BY at`);
  return rows;
}

/** A part of the history with the numbers of matching events before it and in it. */
interface Part extends Interval {
  readonly before: number;
  readonly n: number;
}

/** Hours that contain certain events of a list. */
export interface HourSpan extends Interval {
  /** The number of matching events before it. */
  readonly before: number;
  /** The number of matching events in it. */
  readonly n: number;
}

const PERIODS_DOWN = ['year', 'month', 'day', 'hour'] as const;

/**
 * The hours with the events of two ranks (from 0, the earliest) and everything between them. Null when there are no
 * events.
 * @param years the number of matching events in each year
 */
export async function findHourSpan(
  db: Executor,
  {
    filters,
    interval,
    years,
  }: { filters: readonly TotalledFilter[]; interval: Interval; years: readonly Count[] },
  firstRank: number,
  lastRank: number,
): Promise<HourSpan | null> {
  let first: Part = { ...interval, before: 0, n: 0 };
  let last = first;
  for (const period of PERIODS_DOWN) {
    const isOne = first.from === last.from;
    const count = (part: Part) =>
      period === 'year' ? years : countByPeriod(db, period, filters, { from: part.from, until: part.until });
    const counts = await count(first);
    const laterCounts = isOne ? counts : await count(last);
    const [earlier, later] = [
      partAt(counts, period, first, firstRank),
      partAt(laterCounts, period, last, lastRank),
    ];
    if (earlier === null || later === null) return null;
    [first, last] = [earlier, later];
  }
  return {
    from: first.from,
    until: last.until,
    before: first.before,
    n: last.before + last.n - first.before,
  };
}

/** A range of ids: `from` inclusive, `until` exclusive. */
export interface IdRange {
  readonly from: string;
  readonly until: string;
}

/** The ranges of ids to read for the events of a span: all of it or, if they are few and scattered, their hours. */
export async function rangesOf(
  db: Executor,
  filters: readonly TotalledFilter[],
  stretch: HourSpan,
): Promise<IdRange[]> {
  const hours = (stretch.until - stretch.from) / HOUR_MS;
  if (hours <= 2 * stretch.n) return [idRange(stretch)];
  // Plan: the days in event_period_totals; event_totals_folded_pkey for each day with events.
  const { rows } = await db.execute<{ start: number }>(sql`
    SELECT (extract(epoch FROM hour) * 1000)::bigint AS start
    FROM ${hoursThatCount(stretch, where(onTotals(filters)))} ORDER BY 1`);
  return runsOf(
    'hour',
    rows.map(({ start }) => start),
    stretch,
  ).map(idRange);
}

function onTotals(filters: readonly TotalledFilter[]): SQL[] {
  return filters.map((filter) => filter.onTotals);
}

/** The period with the event of a rank (from 0, the earliest), or the last period if there are fewer events. */
function partAt(counts: readonly Count[], period: Period, whole: Part, rank: number): Part | null {
  let { before } = whole;
  let found: Part | null = null;
  for (const { start, n } of counts) {
    const [from, until] = [Math.max(whole.from, start), Math.min(whole.until, endOf(period, start))];
    found = { from, until, before, n };
    before += n;
    if (before > rank) break;
  }
  return found;
}

function idRange({ from, until }: Interval): IdRange {
  return { from: firstIdAt(from), until: firstIdAt(until) };
}
