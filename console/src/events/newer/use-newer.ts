import { DAY_MS } from '@gantry/contract/durations';
import type { Event, ListEventsInput } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { useCallback, useEffect, useRef, useState } from 'react';
import { currentConnection, useIsStreamOff } from '../../live/connection.ts';
import { POLL_MS, useLive } from '../../live/use-live.ts';
import { api } from '../../service/service.ts';

/** Minimum interval between requests for the count, in milliseconds. */
const EVERY_MS = 2_000;

interface NewerOptions {
  /** False unless the list is loaded and sorted with the newest events first. */
  readonly enabled: boolean;
  /** The filters of the list, including the reason for a plate search. */
  readonly input: Partial<ListEventsInput>;
  /** The newest row of the list. */
  readonly top: Event | undefined;
}

/**
 * The number of matching events that are newer than those in the list. The service counts them; the stream only
 * triggers the requests.
 */
export function useNewer({ enabled, input, top }: NewerOptions): number {
  const [newer, setNewer] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const askedAt = useRef(0);
  // Counts only events after the first row: the total of the list also changes with reviews and deletions.
  const since = top ? new Date(top.timestamp.getTime() + 1).toISOString() : input.startDate;
  const key = JSON.stringify([input, since, enabled]);
  const current = useRef({ key, input, since });
  current.current = { key, input, since };

  const ask = useCallback(async () => {
    timer.current = null;
    askedAt.current = Date.now();
    const asked = current.current;
    const question = { ...asked.input, skip: 0, take: 1, ...(asked.since && { startDate: asked.since }) };
    // An error is ignored, because the next event of the stream triggers another request.
    const answer = await api.events.getAll.query(question).catch(() => null);
    if (answer && asked.key === current.current.key) setNewer(answer.total);
  }, []);
  const askSoon = () => {
    if (!enabled || timer.current !== null) return;
    timer.current = setTimeout(() => void ask(), Math.max(0, EVERY_MS - (Date.now() - askedAt.current)));
  };

  // Events that arrived while the list was loading may be missing from it, so the count is requested after each change.
  // Plate searches are recorded, so they are repeated only if a matching event may have arrived.
  const list = JSON.stringify(input);
  const isPlate = input.licensePlateNumber !== undefined;
  const matchedIn = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the count is reset when the list changes
  useEffect(() => {
    setNewer(0);
    if (!isPlate || matchedIn.current === list) askSoon();
    return () => {
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [key]);

  const isFollowed = useRef(currentConnection().state === 'live');
  useLive((message) => {
    const isFirst = !isFollowed.current;
    isFollowed.current = true;
    const matches = message.type === 'events' && mayMatch(message.event, input);
    if (matches) matchedIn.current = list;
    // Events that arrived before the first message were not reported by the stream.
    if (matches || isFirst) askSoon();
  });

  // Without a stream, the count is polled, except for plate searches, because they are recorded.
  const isPolled = useIsStreamOff() && enabled && !isPlate;
  useEffect(() => {
    if (!isPolled) return;
    const poll = setInterval(() => void ask(), POLL_MS);
    return () => clearInterval(poll);
  }, [isPolled, ask]);
  return newer;
}

/** Whether an event may match the filters. Plates are compared to avoid requests, as plate searches are recorded. */
function mayMatch(
  event: Event,
  { eventType, sensorId, licensePlateNumber, endDate }: Partial<ListEventsInput>,
): boolean {
  if (eventType && event.eventType !== eventType) return false;
  if (sensorId && event.sensorId !== sensorId) return false;
  // The event is after the end date. Two days of margin cover a date without a time in any time zone.
  if (endDate && Date.parse(endDate) + 2 * DAY_MS < event.timestamp.getTime()) return false;
  if (!licensePlateNumber) return true;
  const [plate, wanted] = [event.licensePlateNumber ?? '', licensePlateNumber].map(plateKey);
  const parts = (wanted ?? '').split('*').filter(Boolean);
  return plate !== '' && parts.every((part) => plate?.includes(part));
}
