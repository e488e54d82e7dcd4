import type { Event, EventType, ListEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { firstIdAt } from './id.ts';
import { otherFilters, totalledFilters, where } from './list-filters.ts';
import { type EventRecord, listedColumns, toEvent } from './store.ts';
import { countedEvents } from './totals.ts';

const within = ({ from, until }: Interval): SQL[] => [
  ...(from === Number.NEGATIVE_INFINITY ? [] : [sql`id >= ${firstIdAt(from)}::uuid`]),
  ...(until === Number.POSITIVE_INFINITY ? [] : [sql`id < ${firstIdAt(until)}::uuid`]),
];

const orders = {
  timestamp: { asc: sql`id ASC`, desc: sql`id DESC` },
  createdAt: { asc: sql`created_at ASC, id ASC`, desc: sql`created_at DESC, id DESC` },
  eventType: { asc: sql`event_type ASC, id ASC`, desc: sql`event_type DESC, id DESC` },
  severity: { asc: sql`severity ASC, id ASC`, desc: sql`severity DESC, id DESC` },
} as const satisfies Record<ListEventsInput['sortBy'], Record<ListEventsInput['sortOrder'], SQL>>;

const pageQuery = (
  conditions: readonly SQL[],
  order: SQL,
  { skip, take }: { skip: number; take: number },
): SQL =>
  sql`SELECT ${listedColumns} FROM events ${where(conditions)} ORDER BY ${order} LIMIT ${take} OFFSET ${skip}`;

/**
 * From the most to the least severe, those without one last. Read backwards, the index has those first, and NULLS LAST
 * would keep it from being used. Each part follows the index: 2 ms instead of 170 ms for 50 of 1,000,000 events.
 */
const bySeverityDescending = (
  conditions: readonly SQL[],
  { skip, take }: { skip: number; take: number },
): SQL => {
  const part = (severity: SQL) =>
    pageQuery([...conditions, severity], orders.severity.desc, { skip: 0, take: skip + take });
  return sql`
    SELECT * FROM (
      (SELECT 1 AS part, * FROM (${part(sql`severity IS NOT NULL`)}) AS known)
      UNION ALL
      (SELECT 2 AS part, * FROM (${part(sql`severity IS NULL`)}) AS unknown)
    ) AS parts ORDER BY part, ${orders.severity.desc} LIMIT ${take} OFFSET ${skip}`;
};

/** Counts by the totals where they know every filter, else through an index of the events. */
const countEvents = async (db: Executor, input: ListEventsInput, interval: Interval): Promise<number> => {
  const others = otherFilters(input);
  const { rows } = await db.execute<{ total: number }>(
    others.length === 0
      ? sql`SELECT coalesce(sum(n), 0)::bigint AS total FROM ${countedEvents(interval)} ${where(totalledFilters(input).map(({ onTotals }) => onTotals))}`
      : sql`SELECT count(*) AS total FROM events ${where([...within(interval), ...totalledFilters(input).map(({ onEvents }) => onEvents), ...others])}`,
  );
  return rows[0]?.total ?? 0;
};

/** One page of the events that meet the filters, and how many do. */
export const listEvents = async (
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
): Promise<Page<Event>> => {
  if (input.sensorId !== undefined && !isUuid(input.sensorId)) return { items: [], total: 0 };
  const conditions = [
    ...within(interval),
    ...totalledFilters(input).map(({ onEvents }) => onEvents),
    ...otherFilters(input),
  ];
  const total = await countEvents(db, input, interval);
  // Looking beyond the end would read everything before it.
  if (input.skip >= total) return { items: [], total };
  const { rows } = await db.execute<EventRecord>(
    input.sortBy === 'severity' && input.sortOrder === 'desc'
      ? bySeverityDescending(conditions, input)
      : pageQuery(conditions, orders[input.sortBy][input.sortOrder], input),
  );
  return { items: rows.map(toEvent), total };
};

/** The latest events, newest first. */
export const listRecentEvents = async (
  db: Executor,
  input: { limit: number; eventType?: EventType | undefined },
): Promise<Event[]> => {
  const ofType = input.eventType === undefined ? [] : [sql`event_type = ${input.eventType}`];
  const { rows } = await db.execute<EventRecord>(
    pageQuery(ofType, orders.timestamp.desc, { skip: 0, take: input.limit }),
  );
  return rows.map(toEvent);
};
