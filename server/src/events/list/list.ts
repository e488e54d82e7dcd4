import type { Event, EventType, ListEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import type { Page } from '@gantry/contract/page';
import { inSnapshot } from '../../platform/database/snapshot.ts';
import type { Executor } from '../../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../../platform/time.ts';
import { startOf } from '../counts/covering.ts';
import { listByCreation } from './by-creation.ts';
import { listByEventType, listBySeverity } from './by-kind.ts';
import { listBySearch } from './by-search.ts';
import { conditionsOf, listByTime } from './by-time.ts';
import { countedFilters, ofType, rowFilters } from './filters.ts';
import { orders, readPage } from './page.ts';

const sorts = {
  timestamp: listByTime,
  createdAt: listByCreation,
  eventType: listByEventType,
  severity: listBySeverity,
} as const;

/**
 * One page of the events that meet the filters, with their number at the same moment.
 * @param isDistributed whether events are on several nodes
 */
export function listEvents(
  db: Executor,
  input: ListEventsInput,
  interval: Interval,
  isDistributed: boolean,
): Promise<Page<Event>> {
  if (input.sensorId !== undefined && !isUuid(input.sensorId))
    return Promise.resolve({ items: [], total: 0 });
  return inSnapshot(db, async (seen) => {
    const filters = await countedFilters(seen, input);
    const others = rowFilters(input);
    return others.length > 0 || input.locationName !== undefined
      ? listBySearch(seen, { filters, others, interval, isDistributed }, input)
      : sorts[input.sortBy](seen, { filters, interval, isDistributed }, input.sortOrder, input);
  });
}

/**
 * The latest events, newest first. This month and the previous one are searched before the whole history.
 * @param now the time in Unix milliseconds
 * @param isDistributed whether events are on several nodes
 */
export function listRecentEvents(
  db: Executor,
  input: { limit: number; eventType?: EventType | undefined },
  now: number,
  isDistributed: boolean,
): Promise<Event[]> {
  const filters = input.eventType === undefined ? [] : [ofType(input.eventType)];
  const window = { skip: 0, take: input.limit };
  return inSnapshot(db, async (seen) => {
    const lately = { from: startOf('month', startOf('month', now) - 1), until: ENDLESS.until };
    const conditions = conditionsOf({ filters }, [lately]);
    const latest = await readPage(seen, { conditions }, orders.timestamp.desc, window);
    if (latest.length === input.limit) return latest;
    const sought = { filters, interval: ENDLESS, isDistributed };
    return (await listByTime(seen, sought, 'desc', window)).items;
  });
}
