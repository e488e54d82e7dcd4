import { HOUR_MS } from '@gantry/contract/durations';
import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { runsOf } from '../counts/covering.ts';
import { countByHour, countByPeriod, idWithin, where } from '../counts/totals.ts';
import { spansAtHours } from '../place-and-time.ts';
import { occupiedMonths } from './count.ts';
import { atPlaceNamed, type ListFilters, type TotalledFilter, withinSpans } from './filters.ts';
import { idRange } from './hours.ts';
import { MAX_LISTED_RANGES, readPage, readSorted } from './page.ts';
import { planSpans } from './plan.ts';

// Lists the events at some hours of the day or days of the week. The history is divided into the spans of time in which
// clocks show them, and only these are counted and read: by the totals where they know the filters.

/** One page of the events at these hours, with their number. @param zone of the hours */
export async function listAtHours(db: Executor, asked: ListFilters, zone: string): Promise<Page<Event>> {
  const { input, interval, filters, rowFilters } = asked;
  const { months } = await occupiedMonths(db);
  const spans = runsOf('month', months, interval).flatMap((run) => spansAtHours(run, input, zone));
  const conditions = [
    ...filters.map(({ onEvents }) => onEvents),
    ...rowFilters,
    ...(input.locationName === undefined ? [] : [atPlaceNamed(input.locationName)]),
  ];
  const isTotalled = conditions.length === filters.length;
  const counts = await (isTotalled ? countSpans(db, spans, asked) : countEvents(db, spans, conditions));
  const { total, first, last, reading } = planSpans(counts, input);
  if (reading === null) return { items: [], total };
  const occupied = (from: number, to: number) =>
    spans.slice(from, to).filter((_, n) => (counts[from + n] ?? 0) > 0);
  if (input.sortBy === 'timestamp') {
    const ranges = occupied(first, last + 1).map(idRange);
    return { items: await readPage(db, { conditions, ranges }, reading), total };
  }
  const found = occupied(0, spans.length);
  const source =
    found.length <= MAX_LISTED_RANGES
      ? { conditions, ranges: found.map(idRange) }
      : { conditions: [...withinSpans(found), ...conditions] };
  return readSorted(db, source, input.sortBy, input.sortOrder, input);
}

/** The number of spans that one statement counts: each repeats the conditions. */
const SPANS_AT_ONCE = 64;

/**
 * Counts the events of each span that meet the conditions. The planner has no estimate for a join with the spans, so they
 * are listed one by one.
 */
async function countEvents(
  db: Executor,
  spans: readonly Interval[],
  conditions: readonly SQL[],
): Promise<number[]> {
  const counts: number[] = [];
  for (let at = 0; at < spans.length; at += SPANS_AT_ONCE) {
    const parts = spans
      .slice(at, at + SPANS_AT_ONCE)
      .map(
        (span, n) =>
          sql`SELECT ${sql.raw(String(n))} AS span, count(*) AS n FROM events ${where([...idWithin(span), ...conditions])}`,
      );
    // Plan: events_pkey, or the index of a sensor, a plate or a place, for each span in the partitions that overlap it.
    const { rows } = await db.execute<{ span: number; n: number }>(
      sql`SELECT span, n FROM (${sql.join(parts, sql` UNION ALL `)}) AS counted ORDER BY span`,
    );
    counts.push(...rows.map(({ n }) => n));
  }
  return counts;
}

/** A whole hour in UTC, and the span that contains it. */
interface HourOfSpan {
  /** Unix milliseconds. */
  readonly at: number;
  readonly span: number;
}

/** The same by the totals, and for hours that are not whole by the events. */
async function countSpans(
  db: Executor,
  spans: readonly Interval[],
  { filters }: ListFilters,
): Promise<number[]> {
  const hours: HourOfSpan[] = [];
  const ends: (Interval & { readonly span: number })[] = [];
  for (const [span, { from, until }] of spans.entries()) {
    const [first, next] = [Math.ceil(from / HOUR_MS) * HOUR_MS, Math.floor(until / HOUR_MS) * HOUR_MS];
    for (let at = first; at < next; at += HOUR_MS) hours.push({ at, span });
    if (first > next) ends.push({ from, until, span });
    else if (from < first) ends.push({ from, until: first, span });
    if (first <= next && next < until) ends.push({ from: next, until, span });
  }
  const counts = spans.map(() => 0);
  const add = (span: number, n: number): void => {
    counts[span] = (counts[span] ?? 0) + n;
  };
  for (const { span, n } of await countHours(db, hours, filters)) add(span, n);
  const conditions = filters.map(({ onEvents }) => onEvents);
  for (const [at, n] of (await countEvents(db, ends, conditions)).entries()) add(ends[at]?.span ?? 0, n);
  return counts;
}

/** Counts the events of hours that meet the filters. @returns the number of each hour with its span */
async function countHours(
  db: Executor,
  hours: readonly HourOfSpan[],
  filters: readonly TotalledFilter[],
): Promise<readonly { span: number; n: number }[]> {
  const [first, last] = [hours.at(0), hours.at(-1)];
  if (!first || !last) return [];
  const range = { from: first.at, until: last.at + HOUR_MS };
  // All hours of the range are read: they are few, and joined with the wanted ones they could be compared one by one.
  const conditions = filters.map(({ onTotals }) => onTotals);
  const counted =
    filters.length === 0
      ? (await countByHour(db, range)).map(({ hour, total }) => [hour, total] as const)
      : (await countByPeriod(db, 'hour', conditions, range)).map(({ start, n }) => [start, n] as const);
  const totals = new Map(counted);
  return hours.map(({ at, span }) => ({ span, n: totals.get(at) ?? 0 }));
}
