import { HOUR_MS } from '@gantry/contract/durations';
import type { Event } from '@gantry/contract/events';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import { doubleArray, uuidArray } from '../../platform/database/arrays.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval } from '../../platform/time.ts';
import { runsOf } from '../counts/covering.ts';
import { where } from '../counts/totals.ts';
import { firstIdAt } from '../id.ts';
import { spansAtHours } from '../place-and-time.ts';
import { occupiedMonths } from './count.ts';
import { atPlaceNamed, type ListFilters } from './filters.ts';
import { idRange } from './hours.ts';
import { readPage, readSorted } from './page.ts';
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
    return { items: await readPage(db, { conditions, ranges }, reading, !isTotalled), total };
  }
  const ranges = occupied(0, spans.length).map(idRange);
  return readSorted(db, { conditions, ranges }, input.sortBy, input.sortOrder, input);
}

/** Counts the events of each span that meet the conditions. */
async function countEvents(
  db: Executor,
  spans: readonly Interval[],
  conditions: readonly SQL[],
): Promise<number[]> {
  if (spans.length === 0) return [];
  const bounds = (of: 'from' | 'until'): SQL =>
    sql`${uuidArray(spans, (span) => firstIdAt(span[of]))}::uuid[]`;
  // Plan: events_by_reading or events_pkey for each span, in the partitions that overlap it.
  const { rows } = await db.execute<{ span: number; n: number }>(sql`
    SELECT span::int, count(*) AS n
    FROM unnest(${bounds('from')}, ${bounds('until')}) WITH ORDINALITY AS wanted (first, next, span)
    JOIN events ON id >= first AND id < next ${where(conditions)} GROUP BY 1`);
  return numbersOf(rows, spans);
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
  // Plan: event_totals_folded_pkey for each hour, or all of it if they are many; the pending rows are read whole.
  const { rows } = await db.execute<{ span: number; n: number }>(sql`
    SELECT span::int, sum(n)::bigint AS n
    FROM unnest(${doubleArray(hours, ({ at }) => at / 1000)}::float8[], ${doubleArray(hours, ({ span }) => span)}::float8[])
      AS wanted (at, span)
    JOIN event_totals ON hour = to_timestamp(at) ${where(filters.map(({ onTotals }) => onTotals))} GROUP BY 1`);
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
