import { type EventFilter, listEventsInput } from '@gantry/contract/events';
import { isUuid } from '@gantry/contract/id';
import { type SQL, sql } from 'drizzle-orm';
import type { Executor } from '../../platform/database/transaction.ts';
import { atPlaceNamed, countedFilters, rowFilters } from './filters.ts';

/** The conditions that are met by exactly the events that `events.getAll` lists with these filters. */
export async function listedConditions(db: Executor, filter: EventFilter): Promise<SQL[]> {
  if (filter.sensorId !== undefined && !isUuid(filter.sensorId)) return [sql`false`];
  const input = listEventsInput.parse(filter);
  return [
    ...(await countedFilters(db, input)).map(({ onEvents }) => onEvents),
    ...rowFilters(input),
    ...(input.locationName === undefined ? [] : [atPlaceNamed(input.locationName)]),
  ];
}
