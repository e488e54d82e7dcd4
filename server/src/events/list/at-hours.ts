import { HOUR_MS } from '@gantry/contract/durations';
import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import { doubleArray } from '../../platform/database/arrays.ts';
import { moment } from '../../platform/database/moment.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { runsOf } from '../counts/covering.ts';
import { idWithin, where } from '../counts/totals.ts';
import { spansAtHours } from '../place-and-time.ts';
import { occupiedMonths } from './count.ts';
import { atPlaceNamed, type ListFilters, withinSpans } from './filters.ts';
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

/** The same by the totals, and for hours that are not whole by the events. */
async function countSpans(
  db: Executor,
  spans: readonly Interval[],
  { filters }: ListFilters,
): Promise<number[]> {
  const hours: { readonly at: number; readonly span: number }[] = [];
  const ends: Interval[] = [];
  const spanOfEnd: number[] = [];
  for (const [n, { from, until }] of spans.entries()) {
    const [first, next] = [Math.ceil(from / HOUR_MS) * HOUR_MS, Math.floor(until / HOUR_MS) * HOUR_MS];
    for (let at = first; at < next; at += HOUR_MS) hours.push({ at, span: n + 1 });
    const parts =
      first > next
        ? [{ from, until }]
        : [
            { from, until: first },
            { from: next, until },
          ];
    for (const part of parts) {
      if (part.from >= part.until) continue;
      ends.push(part);
      spanOfEnd.push(n);
    }
  }
  const [first, last] = [hours.at(0), hours.at(-1)];
  const within = first && last ? [sql`hour >= ${moment(first.at)}`, sql`hour <= ${moment(last.at)}`] : [];
  // Plan: event_totals_folded_pkey for each hour or from the first to the last; the pending rows are read whole.
  const { rows } = await db.execute<{ span: number; n: number }>(sql`
    SELECT span::int, sum(n)::bigint AS n
    FROM unnest(${doubleArray(hours, ({ at }) => at / 1000)}::float8[], ${doubleArray(hours, ({ span }) => span)}::float8[])
      AS wanted (at, span)
    JOIN event_totals ON hour = to_timestamp(at)
    ${where([...within, ...filters.map(({ onTotals }) => onTotals)])} GROUP BY 1`);
  const counts = numbersOf(rows, spans);
  const ofEnds = await countEvents(
    db,
    ends,
    filters.map(({ onEvents }) => onEvents),
  );
  for (const [n, count] of ofEnds.entries()) {
    const span = spanOfEnd[n] ?? 0;
    counts[span] = (counts[span] ?? 0) + count;
  }
  return counts;
}

/** The numbers of all spans in order; spans are counted from 1. */
function numbersOf(rows: readonly { span: number; n: number }[], spans: readonly Interval[]): number[] {
  const counts = spans.map(() => 0);
  for (const { span, n } of rows) counts[span - 1] = n;
  return counts;
}
