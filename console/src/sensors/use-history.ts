import { DAY_MS } from '@gantry/contract/durations';
import type { StatusChange } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { api, service } from '../service/service.ts';

const TAKE = 100;
/** More changes than this are not read: a sensor that flaps has thousands. */
const MOST_PAGES = 10;
/** What the page shows at most, in milliseconds: 30 days. */
export const HISTORY_MS = 30 * DAY_MS;

export interface StatusHistory {
  /** Newest first, the last 30 days and the change before them. */
  readonly changes: readonly StatusChange[];
  /** Whether there are more within the 30 days than were read. */
  readonly isCut: boolean;
}

/** The changes of a sensor's status that 30 days need. */
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
