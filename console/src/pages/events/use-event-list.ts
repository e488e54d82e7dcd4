import type { Event, LookUpReason } from '@gantry/contract/events';
import { useRef } from 'react';
import { useLookUp, useSeesPlates } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import type { EventFilters } from './search.ts';

export const keyOfEvent = ({ id }: Pick<Event, 'id'>): string => id;

export interface EventList {
  readonly pages: Pages<Event>;
  /** Whether a plate search waits until the user enters a reason or chooses to search without one. */
  readonly isHeld: boolean;
  /** Why a plate is searched for, sent with every request and not stored in the URL. Empty without a reason. */
  readonly why: LookUpReason;
  readonly setWhy: (why: LookUpReason) => void;
}

const NO_REASON: LookUpReason = {};

/** The events that match the filters. A plate search is recorded, so the user is asked for a reason first. */
export function useEventList(input: EventFilters): EventList {
  const plate = input.licensePlateNumber;
  const lookUp = useLookUp(plate);
  // Without permission to see plates, the service refuses the search whatever the reason, so the user is not asked.
  const seesPlates = useSeesPlates();
  const answer = plate === undefined || !seesPlates ? NO_REASON : lookUp.why;
  const why = answer ?? NO_REASON;
  const latest = useRef(why);
  latest.current = why;
  const isHeld = answer === undefined;
  const pages = usePages({
    queryKey: service.events.getAll.queryKey(input),
    load: (page, signal) => api.events.getAll.query({ ...input, ...page, ...latest.current }, { signal }),
    rows: 'events',
    keyOf: keyOfEvent,
    enabled: !isHeld,
  });
  const setWhy = (given: LookUpReason) => {
    latest.current = given;
    lookUp.give(given);
    if (!isHeld) void pages.restart();
  };
  return { pages, isHeld, why, setWhy };
}
