import type { Event, EventType, ListEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { inSnapshot } from '../database/snapshot.ts';
import type { Executor } from '../database/transaction.ts';
import type { Interval } from '../time.ts';
import { listByCreation } from './list-by-creation-store.ts';
import { listByEventType, listBySeverity } from './list-by-kind-store.ts';
import { listBySearch } from './list-by-search-store.ts';
import { listByTime } from './list-by-time-store.ts';
import { ofType, otherFilters, totalledFilters } from './list-filters.ts';
import { orders, readPage } from './page-store.ts';

const sorts = {
  timestamp: listByTime,
  createdAt: listByCreation,
  eventType: listByEventType,
  severity: listBySeverity,
} as const;

/** One page of the events that meet the filters, and how many do at the same moment. */
export const listEvents = (
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
): Promise<Page<Event>> => {
  if (input.sensorId !== undefined && !isUuid(input.sensorId))
    return Promise.resolve({ items: [], total: 0 });
  const filters = totalledFilters(input);
  const others = otherFilters(input);
  return inSnapshot(db, (seen) =>
    others.length > 0
      ? listBySearch(seen, { filters, others, interval }, input)
      : sorts[input.sortBy](seen, { filters, interval }, input.sortOrder, input),
  );
};

/** The latest events, newest first. */
export const listRecentEvents = (
  db: Executor,
  input: { limit: number; eventType?: EventType | undefined },
): Promise<Event[]> => {
  const conditions = input.eventType === undefined ? [] : [ofType(input.eventType).onEvents];
  return readPage(db, { conditions }, orders.timestamp.desc, { skip: 0, take: input.limit });
};
