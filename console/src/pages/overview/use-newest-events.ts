import type { Event } from '@gantry/contract/events';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLive } from '../../shared/live/use-live.ts';
import { api, service } from '../../shared/service/service.ts';

/** Number of events shown. */
export const SHOWN = 8;
/** Interval at which new events are shown, in milliseconds: nobody can read fifty a second. */
const TOGETHER_MS = 2_000;

const queryKey = [...service.events.getRecent.queryKey({ limit: SHOWN }), 'newest'];

interface Arrived {
  readonly event: Event;
  /** When the event was received, or requested, in milliseconds since 1970. */
  readonly at: number;
}

/**
 * The newest events, updated live.
 * @param mayHold whether the user can pause the updates
 * @returns `hold` has the handlers of an element that pauses the updates while it is hovered or focused; `isHeld` tells
 *   whether they are paused
 */
export function useNewestEvents(mayHold: boolean) {
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const askedAt = Date.now();
      const events = await api.events.getRecent.query({ limit: SHOWN }, { signal });
      return { askedAt, answered: events.map((event) => ({ event, at: askedAt })) };
    },
  });
  // Events from the stream are kept separately: the response to an earlier request does not contain them.
  const arrived = useRef<readonly Arrived[]>([]);
  const isDue = useRef(false);
  useLive((message) => {
    if (message.type !== 'events') return;
    arrived.current = newestOf([...arrived.current, { event: message.event, at: Date.now() }]);
    isDue.current = true;
  });
  const [shown, setShown] = useState<readonly Arrived[]>();
  const [used, setUsed] = useState({ pointer: false, focus: false });
  const isHeld = mayHold && (used.pointer || used.focus);
  useEffect(() => {
    if (!data || isHeld) return;
    const show = () => {
      if (!isDue.current) return;
      isDue.current = false;
      arrived.current = arrived.current.filter(({ at }) => at >= data.askedAt);
      setShown(newestOf([...arrived.current, ...data.answered]));
    };
    isDue.current = true;
    show();
    const timer = setInterval(show, TOGETHER_MS);
    return () => clearInterval(timer);
  }, [data, isHeld]);
  const set = (by: 'pointer' | 'focus', isUsed: boolean) => () =>
    setUsed((before) => ({ ...before, [by]: isUsed }));
  return {
    events: (shown ?? data?.answered)?.map(({ event }) => event),
    error,
    refetch: () => void refetch(),
    isHeld,
    hold: {
      onPointerEnter: set('pointer', true),
      onPointerLeave: set('pointer', false),
      onFocus: set('focus', true),
      onBlur: set('focus', false),
    },
  };
}

/** The newest events, newest first. If an event occurs twice, the later entry is kept. */
function newestOf(all: readonly Arrived[]): readonly Arrived[] {
  const byId = new Map(all.map((each) => [each.event.id, each]));
  return [...byId.values()]
    .sort((one, other) => other.event.timestamp.getTime() - one.event.timestamp.getTime())
    .slice(0, SHOWN);
}
