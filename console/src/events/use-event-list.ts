import type { Event } from '@gantry/contract/events';
import { useRef, useState } from 'react';
import { api, service } from '../service/service.ts';
import { type Pages, usePages } from '../table/pages.ts';
import type { EventFilters } from './search.ts';

export const keyOfEvent = ({ id }: Pick<Event, 'id'>): string => id;

export interface EventList {
  readonly pages: Pages<Event>;
  /** Why the plate is looked up. It goes with every call and is not part of the address. */
  readonly reason: string | undefined;
  readonly setReason: (reason: string) => void;
}

/** The events that meet the filters. */
export function useEventList(input: EventFilters): EventList {
  const plate = input.licensePlateNumber;
  const [given, setGiven] = useState<{ plate: string | undefined; text: string } | null>(null);
  // A reason holds for the plate for which it was given.
  const reason = plate !== undefined && given?.plate === plate ? given.text : undefined;
  const latest = useRef(reason);
  latest.current = reason;
  const pages = usePages<Event>({
    queryKey: service.events.getAll.queryKey(input),
    load: async (page, signal) => {
      const question = { ...input, ...page, ...(latest.current && { reason: latest.current }) };
      const { events, total } = await api.events.getAll.query(question, { signal });
      return { rows: events, total };
    },
    keyOf: keyOfEvent,
  });
  const setReason = (text: string) => {
    setGiven({ plate, text });
    latest.current = text;
    void pages.restart();
  };
  return { pages, reason, setReason };
}
