import type { Event, EventType, ListEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { type SQL, sql } from 'drizzle-orm';
import { moment } from '../../platform/database/moment.ts';
import { type Executor, inSnapshot } from '../../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../../platform/time.ts';
import { startOf } from '../counts/covering.ts';
import { idWithinAny } from '../counts/totals.ts';
import { listAtHours } from './at-hours.ts';
import { countMatches } from './count.ts';
import { conditionsOf, filtersOf, hasHours, type ListFilters, ofType } from './filters.ts';
import { findHours, findHoursOfArrival, rangesOf } from './hours.ts';
import { narrow } from './narrow.ts';
import { readPage, readSorted, type Source } from './page.ts';
import { planPage, type Reading, readingWithin, type Step } from './plan.ts';

/**
 * One page of the events that meet the filters, with their number at the same moment.
 * @param zone of the hours of the day and the days of the week
 * @param sendsSkipped `Nodes.sendsSkippedRows`
 */
export function listEvents(
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
  zone: string,
  sendsSkipped: boolean,
): Promise<Page<Event>> {
  if (input.sensorId !== undefined && !isUuid(input.sensorId))
    return Promise.resolve({ items: [], total: 0 });
  return inSnapshot(db, async (seen) => {
    const asked = await filtersOf(seen, input, interval);
    return hasHours(input) ? listAtHours(seen, asked, zone) : list(seen, asked, sendsSkipped);
  });
}

/**
 * The latest events, newest first. This month and the previous one are searched before the whole history.
 * @param now the time in Unix milliseconds
 * @param sendsSkipped `Nodes.sendsSkippedRows`
 */
export function listRecentEvents(
  db: Executor,
  input: { limit: number; eventType?: EventType | undefined },
  now: number,
  sendsSkipped: boolean,
): Promise<Event[]> {
  const filters = input.eventType === undefined ? [] : [ofType(input.eventType)];
  const window = { sortBy: 'timestamp', skip: 0, take: input.limit } as const;
  return inSnapshot(db, async (seen) => {
    const lately = { from: startOf('month', startOf('month', now) - 1), until: ENDLESS.until };
    const conditions = conditionsOf(filters, [lately]);
    const latest = await readPage(seen, { conditions }, { ...window, direction: 'desc', isReversed: false });
    if (latest.length === input.limit) return latest;
    const all = {
      input: { ...window, sortOrder: 'desc' },
      interval: ENDLESS,
      filters,
      rowFilters: [],
      isUnindexed: false,
    } as const;
    return (await list(seen, all, sendsSkipped)).items;
  });
}

/** Counts the matching events, plans the page, and reads it. */
async function list(db: Executor, asked: ListFilters, sendsSkipped: boolean): Promise<Page<Event>> {
  const { input, interval, filters } = asked;
  const counted = await countMatches(db, asked);
  const plan = planPage(asked, counted);
  if (plan.by === 'sorting') {
    const conditions = [...conditionsOf(filters, plan.spans), ...counted.rowConditions];
    return readSorted(db, { conditions }, input.sortBy, input.sortOrder, input);
  }
  if (plan.by === 'sorting hours') {
    const { years, total } = plan;
    const span = await findHours(db, { filters, interval, years }, { first: 0, last: total - 1 });
    if (span === null) return { items: [], total };
    const conditions = conditionsOf(filters, [interval]);
    const source = { conditions, ranges: await rangesOf(db, filters, span) };
    return readSorted(db, source, input.sortBy, input.sortOrder, input);
  }
  const items: Event[] = [];
  for (const step of plan.steps) {
    const found = await find(db, step, interval, counted.rowConditions);
    if (found === null) continue;
    const { source, reading } = sendsSkipped && step.by !== 'index' ? await narrow(db, found) : found;
    items.push(...(await readPage(db, source, reading)));
  }
  return { items, total: plan.total };
}

/** Where a step reads, and how. */
interface Found {
  readonly source: Source;
  readonly reading: Reading;
}

/** Finds what a step reads. Null when there are no such events. */
async function find(
  db: Executor,
  step: Step,
  interval: Interval,
  rowConditions: readonly SQL[],
): Promise<Found | null> {
  switch (step.by) {
    case 'index': {
      const conditions = [...conditionsOf(step.filters, step.spans), ...rowConditions];
      return { source: { conditions }, reading: step.reading };
    }
    case 'hours': {
      const span = await findHours(db, { ...step, interval }, step.ranks);
      if (span === null) return null;
      const ranges = await rangesOf(db, step.filters, span);
      const conditions = step.filters.map(({ onEvents }) => onEvents);
      return { source: { conditions, ranges }, reading: readingWithin('timestamp', step.ranks, span) };
    }
    case 'arrivals': {
      const span = await findHoursOfArrival(db, step.ranks);
      if (span === null) return null;
      const conditions = [
        ...idWithinAny(step.spans),
        sql`created_at >= ${moment(span.from)}`,
        sql`created_at < ${moment(span.until)}`,
      ];
      return { source: { conditions }, reading: readingWithin('createdAt', step.ranks, span) };
    }
  }
}
