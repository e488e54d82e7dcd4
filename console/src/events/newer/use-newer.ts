import { DAY_MS } from '@gantry/contract/durations';
import type { Event, ListEventsInput } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { useCallback, useEffect, useRef, useState } from 'react';
import { currentConnection, useIsStreamOff } from '../../live/connection.ts';
import { POLL_MS, useLive } from '../../live/use-live.ts';
import { api } from '../../service/service.ts';

/** The count is asked for at most this often, in milliseconds. */
const EVERY_MS = 2_000;

interface NewerOptions {
  /** Only while the newest rows come first. */
  readonly enabled: boolean;
  /** The filters of the list; the reason for looking a plate up is among them. */
  readonly input: Partial<ListEventsInput>;
  /** The newest row that is shown. */
  readonly top: Event | undefined;
}

/**
 * How many events that meet the filters are newer than what is shown. The service counts them: the stream only says when
 * it is worth asking.
 */
export function useNewer({ enabled, input, top }: NewerOptions): number {
  const [newer, setNewer] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const askedAt = useRef(0);
  // Reviews and deletions change the total of a list, but not how many rows are above its first one.
  const since = top ? new Date(top.timestamp.getTime() + 1).toISOString() : input.startDate;
  const key = JSON.stringify([input, since, enabled]);
  const current = useRef({ key, input, since });
  current.current = { key, input, since };

  const ask = useCallback(async () => {
    timer.current = null;
    askedAt.current = Date.now();
    const asked = current.current;
    const question = { ...asked.input, skip: 0, take: 1, ...(asked.since && { startDate: asked.since }) };
    // A failure is passed over: the next event of the stream asks again.
    const answer = await api.events.getAll.query(question).catch(() => null);
    if (answer && asked.key === current.current.key) setNewer(answer.total);
  }, []);
  const askSoon = () => {
    if (!enabled || timer.current !== null) return;
    timer.current = setTimeout(() => void ask(), Math.max(0, EVERY_MS - (Date.now() - askedAt.current)));
  };

  // What came while the list was asked for may be missing in it. Searches for a plate are recorded, so those are
  // repeated only if it may have come.
  const list = JSON.stringify(input);
  const isPlate = input.licensePlateNumber !== undefined;
  const matchedIn = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was counted holds for one list
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
    // Before the first message, nothing was said of what came.
    if (matches || isFirst) askSoon();
  });

  // Without a stream, only what is not recorded is asked for again and again.
  const isPolled = useIsStreamOff() && enabled && !isPlate;
  useEffect(() => {
    if (!isPolled) return;
    const poll = setInterval(() => void ask(), POLL_MS);
    return () => clearInterval(poll);
  }, [isPolled, ask]);
  return newer;
}

/** Whether it is worth asking. Every question about a plate is recorded, so those are asked only when it may have been seen. */
function mayMatch(
  event: Event,
  { eventType, sensorId, licensePlateNumber, endDate }: Partial<ListEventsInput>,
): boolean {
  if (eventType && event.eventType !== eventType) return false;
  if (sensorId && event.sensorId !== sensorId) return false;
  // A list that ends before today gets nothing new.
  if (endDate && Date.parse(endDate) + 2 * DAY_MS < event.timestamp.getTime()) return false;
  if (!licensePlateNumber) return true;
  const [plate, wanted] = [event.licensePlateNumber ?? '', licensePlateNumber].map(plateKey);
  const parts = (wanted ?? '').split('*').filter(Boolean);
  return plate !== '' && parts.every((part) => plate?.includes(part));
}
