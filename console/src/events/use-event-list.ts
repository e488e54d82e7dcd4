import type { Event } from '@gantry/contract/events';
import { useRef, useState } from 'react';
import { api, service } from '../service/service.ts';
import { useSeesPlates } from '../session/plates.tsx';
import { useUser } from '../session/session.ts';
import { type Pages, usePages } from '../table/pages.ts';
import type { EventFilters } from './search.ts';

export const keyOfEvent = ({ id }: Pick<Event, 'id'>): string => id;

export interface EventList {
  readonly pages: Pages<Event>;
  /** Whether the search for a plate waits for its reason, or for the word that it goes on without. */
  readonly isHeld: boolean;
  /** Why the plate is looked up. It goes with every call and is not part of the address. */
  readonly reason: string | undefined;
  /** @param reason null: without one */
  readonly setReason: (reason: string | null) => void;
}

/** What users of this tab answered for a plate, by user and plate: the reason, or null for none. */
const answers = new Map<string, string | null>();

/** The events that meet the filters. A search for a plate, which is recorded, begins when the user has answered why. */
export function useEventList(input: EventFilters): EventList {
  const plate = input.licensePlateNumber;
  const [, setAnswered] = useState(0);
  const key = `${useUser().id} ${plate}`;
  // The service refuses the search of those who see no plates, whatever the reason.
  const seesPlates = useSeesPlates();
  const answer = plate === undefined || !seesPlates ? null : answers.get(key);
  const reason = answer ?? undefined;
  const latest = useRef(reason);
  latest.current = reason;
  const isHeld = answer === undefined;
  const pages = usePages<Event>({
    queryKey: service.events.getAll.queryKey(input),
    load: async (page, signal) => {
      const question = { ...input, ...page, ...(latest.current && { reason: latest.current }) };
      const { events, total } = await api.events.getAll.query(question, { signal });
      return { rows: events, total };
    },
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
