import type { EventStats } from '@gantry/contract/events';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { firstIdAt } from './id.ts';

const DAY_MS = 86_400_000;
/** No event is later, and PostgreSQL and JavaScript write days up to here in the same way. */
const END_OF_TIME = Date.UTC(9999, 11, 31);
const dayAt = (time: number): string => new Date(time).toISOString().slice(0, 10);

const fromTotals = (firstDay: number | null, endDay: number | null): SQL => sql`
  SELECT event_type, violation_type, vehicle_type, processed, archived, n FROM event_totals
  WHERE true
    ${firstDay === null ? sql`` : sql`AND day >= ${dayAt(firstDay)}::date`}
    ${endDay === null ? sql`` : sql`AND day < ${dayAt(endDay)}::date`}`;

const fromEvents = (from: number, until: number): SQL => sql`
  SELECT event_type, coalesce(violation_type, ''), coalesce(vehicle_type, ''), processed, archived, 1
  FROM events WHERE id >= ${firstIdAt(from)}::uuid AND id < ${firstIdAt(until)}::uuid`;

/**
 * Rows (event_type, violation_type, vehicle_type, processed, archived, n) that count the events of an interval:
 * whole UTC days from the totals, the ragged ends from the events themselves.
 */
export const countedEvents = ({ from, until }: Interval): SQL => {
  const start = Math.max(from, 0);
  const end = Math.min(until, END_OF_TIME);
  const openStart = from <= 0;
  const openEnd = until >= END_OF_TIME;
  const firstDay = Math.ceil(start / DAY_MS) * DAY_MS;
  const endDay = Math.floor(end / DAY_MS) * DAY_MS;
  if (start >= end) return sql`${fromTotals(0, 0)}`;
  if (!openEnd && firstDay >= endDay) return fromEvents(start, end);
  const parts = [fromTotals(openStart ? null : firstDay, openEnd ? null : endDay)];
  if (!openStart && start < firstDay) parts.push(fromEvents(start, firstDay));
  if (!openEnd && endDay < end) parts.push(fromEvents(endDay, end));
  return sql.join(parts, sql` UNION ALL `);
};

interface CountRow extends Record<string, unknown> {
  event_type: string;
  violation_type: string;
  processed: boolean;
  archived: boolean;
  n: number;
}

const sumBy = (rows: readonly CountRow[], keyOf: (row: CountRow) => string): [string, number][] => {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== '') sums.set(key, (sums.get(key) ?? 0) + row.n);
  }
  return [...sums].sort(([aKey, a], [bKey, b]) => b - a || (aKey < bKey ? -1 : 1));
};

const sumWhere = (rows: readonly CountRow[], counts: (row: CountRow) => boolean): number =>
  rows.reduce((sum, row) => (counts(row) ? sum + row.n : sum), 0);

/** Counts the events of an interval by what reviewers ask for; the most frequent come first. */
export const getEventStats = async (db: Executor, interval: Interval): Promise<EventStats> => {
  const { rows } = await db.execute<CountRow>(sql`
    SELECT event_type, violation_type, processed, archived, sum(n)::bigint AS n
    FROM (${countedEvents(interval)}) AS counted (event_type, violation_type, vehicle_type, processed, archived, n)
    GROUP BY 1, 2, 3, 4 HAVING sum(n) <> 0`);
  return {
    total: sumWhere(rows, () => true),
    byType: sumBy(rows, (row) => row.event_type).map(([eventType, count]) => ({ eventType, count })),
    processed: sumWhere(rows, (row) => row.processed),
    unprocessed: sumWhere(rows, (row) => !row.processed),
    archived: sumWhere(rows, (row) => row.archived),
    byViolationType: sumBy(rows, (row) => row.violation_type).map(([violationType, count]) => ({
      violationType,
      count,
    })),
  };
};
