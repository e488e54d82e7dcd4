import { api } from '../../service/service.ts';

/** Most events that one hold names. */
export const MAX_HELD = 1000;
const TAKE = 100;
/** Longest reason of a search, in characters. */
const REASON_MAX = 500;

interface Range {
  readonly startDate: string;
  readonly endDate: string;
  /** Empty: of all plates. */
  readonly licensePlateNumber: string;
  /** Why they are looked for: searches for plates are written down. */
  readonly reason: string;
}

/** The events of a range, archived ones as well. No ids where they are more than one hold can name. */
export async function findEventIds({ licensePlateNumber, reason, ...range }: Range) {
  const eventIds = new Set<string>();
  let total = 0;
  // Events that come meanwhile move the pages if the newest are first.
  const input = {
    ...range,
    ...(licensePlateNumber && { licensePlateNumber, reason: reason.slice(0, REASON_MAX) }),
    sortOrder: 'asc' as const,
  };
  for (let skip = 0; ; skip += TAKE) {
    const page = await api.events.getAll.query({ ...input, skip, take: TAKE });
    total = page.total;
    if (total > MAX_HELD) return { eventIds: [], total };
    for (const { id } of page.events) eventIds.add(id);
    if (skip + TAKE >= total) return { eventIds: [...eventIds], total };
  }
}

/** Ids as people paste them: with blanks, commas or line breaks between them, or addresses of events. */
export function idsOf(text: string): string[] {
  const ids = text
    .split(/[\s,;]+/)
    .map((part) => /[?&]event=([^&]+)/.exec(part)?.[1] ?? part)
    .filter((part) => part !== '');
  return [...new Set(ids)];
}
