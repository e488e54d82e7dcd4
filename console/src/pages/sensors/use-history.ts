import { DAY_MS } from '@gantry/contract/durations';
import type { StatusChange } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { api, service } from '../../shared/service/service.ts';

const TAKE = 100;
/** The maximum number of pages that are loaded: a sensor that flaps has thousands of changes. */
const MOST_PAGES = 10;
/** The longest period that the page shows, in milliseconds: 30 days. */
export const HISTORY_MS = 30 * DAY_MS;

export interface StatusHistory {
  /** Newest first. Includes the last change before the 30 days, from which the status at their start is known. */
  readonly changes: readonly StatusChange[];
  /** Whether the limit was reached before all changes within the 30 days were loaded. */
  readonly isCut: boolean;
}

/** The status changes of a sensor in the last 30 days. */
export function useStatusHistory(id: string) {
  return useQuery({
    queryKey: [...service.sensors.getStatusHistory.queryKey({ id }), 'all'],
    queryFn: ({ signal }) => read(id, signal),
  });
}

async function read(id: string, signal: AbortSignal): Promise<StatusHistory> {
  const changes: StatusChange[] = [];
  const since = Date.now() - HISTORY_MS;
  for (let page = 0; page < MOST_PAGES; page++) {
    const answer = await api.sensors.getStatusHistory.query(
      { id, skip: page * TAKE, take: TAKE },
      { signal },
    );
    changes.push(...answer.history);
    const oldest = changes.at(-1);
    if (changes.length >= answer.total || !oldest || oldest.at.getTime() < since) {
      return { changes, isCut: false };
    }
  }
  return { changes, isCut: true };
}
