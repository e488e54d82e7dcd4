import type { Event } from '@gantry/contract/events';
import { useRef, useState } from 'react';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useUser } from '../../shared/session/session.ts';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import type { EventFilters } from './search.ts';

export const keyOfEvent = ({ id }: Pick<Event, 'id'>): string => id;

export interface EventList {
  readonly pages: Pages<Event>;
  /** Whether a plate search waits until the user enters a reason or chooses to search without one. */
  readonly isHeld: boolean;
  /** The reason for the plate search, sent with every request and not stored in the URL. */
  readonly reason: string | undefined;
  /** @param reason null to search without one */
  readonly setReason: (reason: string | null) => void;
}

/** The reasons entered in this tab, by user and plate; null if the user chose to search without one. */
const answers = new Map<string, string | null>();

/** The events that match the filters. A plate search is recorded, so the user is asked for a reason first. */
export function useEventList(input: EventFilters): EventList {
  const plate = input.licensePlateNumber;
  const [, setAnswered] = useState(0);
  const key = `${useUser().id} ${plate}`;
  // Without permission to see plates, the service refuses the search whatever the reason, so the user is not asked.
  const seesPlates = useSeesPlates();
  const answer = plate === undefined || !seesPlates ? null : answers.get(key);
  const reason = answer ?? undefined;
  const latest = useRef(reason);
  latest.current = reason;
  const isHeld = answer === undefined;
  const pages = usePages({
    queryKey: service.events.getAll.queryKey(input),
    load: (page, signal) =>
      api.events.getAll.query(
        { ...input, ...page, ...(latest.current && { reason: latest.current }) },
        { signal },
      ),
    rows: 'events',
    keyOf: keyOfEvent,
    enabled: !isHeld,
  });
  const setReason = (text: string | null) => {
    answers.set(key, text);
    latest.current = text ?? undefined;
    setAnswered((n) => n + 1);
    if (!isHeld) void pages.restart();
  };
  return { pages, isHeld, reason, setReason };
}
