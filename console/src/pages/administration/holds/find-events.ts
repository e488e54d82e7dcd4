import { MAX_HELD_EVENTS } from '@gantry/contract/values';
import { api } from '../../../shared/service/service.ts';

const TAKE = 100;
/** Maximum length of the reason of a search, in characters. */
const REASON_MAX = 500;

interface Range {
  readonly startDate: string;
  readonly endDate: string;
  /** Empty: all plates. */
  readonly licensePlateNumber: string;
  /** Reason of the search. It is sent only with a plate, because searches for plates are recorded. */
  readonly reason: string;
}

/** The ids of the events of a range, including archived ones. No ids if there are more than `MAX_HELD_EVENTS`. */
export async function findEventIds({ licensePlateNumber, reason, ...range }: Range) {
  const eventIds = new Set<string>();
  let total = 0;
  // Oldest first: with the newest first, events that arrive in the meantime would shift the pages.
  const input = {
    ...range,
    ...(licensePlateNumber && { licensePlateNumber, reason: reason.slice(0, REASON_MAX) }),
    sortOrder: 'asc' as const,
  };
  for (let skip = 0; ; skip += TAKE) {
    const page = await api.events.getAll.query({ ...input, skip, take: TAKE });
    total = page.total;
    if (total > MAX_HELD_EVENTS) return { eventIds: [], total };
    for (const { id } of page.events) eventIds.add(id);
    if (skip + TAKE >= total) return { eventIds: [...eventIds], total };
  }
}

/** The ids in a pasted text: ids or URLs of events, separated by blanks, commas, semicolons or line breaks. */
export function idsOf(text: string): string[] {
  const ids = text
    .split(/[\s,;]+/)
    .map((part) => /[?&]event=([^&]+)/.exec(part)?.[1] ?? part)
    .filter((part) => part !== '');
  return [...new Set(ids)];
}
