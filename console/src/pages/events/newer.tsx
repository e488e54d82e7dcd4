import { DAY_MS } from '@gantry/contract/durations';
import type { Event, ListEventsInput } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { POLL_MS, useLive } from '../../shared/live/use-live.ts';
import { currentConnection, useIsStreamOff } from '../../shared/service/connection.ts';
import { api } from '../../shared/service/service.ts';
import { Button } from '../../ui/button.tsx';
import { Key } from '../../ui/shortcut-sheet.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';

/** Minimum interval between requests for the count, in milliseconds. */
const EVERY_MS = 2_000;
/** Maximum number of rows with the timestamp of the top row for which new events with that timestamp are counted. */
const SAME_MAX = 50;

interface NewerOptions {
  /** False unless the list is loaded and sorted with the newest events first. */
  readonly enabled: boolean;
  /** The filters of the list, including the reason for a plate search. */
  readonly input: Partial<ListEventsInput>;
  readonly rows: readonly Event[];
  readonly hasMore: boolean;
}

/**
 * The number of matching events that are newer than those in the list. The service counts them; the stream only
 * triggers the requests.
 */
export function useNewer({ enabled, input, rows, hasMore }: NewerOptions): number {
  const [newer, setNewer] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const askedAt = useRef(0);
  // Counts only events since the first row: the total of the list also changes with reviews and deletions. Those with
  // the timestamp of the first row are counted too, if all such rows are loaded.
  const at = rows[0]?.timestamp.getTime();
  const end = rows.findIndex(({ timestamp }) => timestamp.getTime() !== at);
  const same = end >= 0 ? rows.slice(0, end) : hasMore ? [] : rows;
  const known = same.length <= SAME_MAX ? same.map(({ id }) => id) : [];
  const since = at === undefined ? input.startDate : new Date(known.length > 0 ? at : at + 1).toISOString();
  const key = JSON.stringify([input, since, known, enabled]);
  const current = useRef({ key, input, since, known });
  current.current = { key, input, since, known };

  const ask = useCallback(async () => {
    timer.current = null;
    askedAt.current = Date.now();
    const asked = current.current;
    // The oldest come first, so that the known ones are in the answer as long as they match. The margin is for new ones
    // between them.
    const take = asked.known.length + 10;
    const page = { skip: 0, take, sortBy: 'timestamp', sortOrder: 'asc' } as const;
    const question = { ...asked.input, ...page, ...(asked.since && { startDate: asked.since }) };
    // An error is ignored, because the next event of the stream triggers another request.
    const answer = await api.events.getAll.query(question).catch(() => null);
    if (!answer || asked.key !== current.current.key) return;
    setNewer(answer.total - answer.events.filter(({ id }) => asked.known.includes(id)).length);
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
    // Events that arrived before the first message were not reported by the stream. A plate is not looked up for them.
    if (matches || (isFirst && !isPlate)) askSoon();
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

/** Shows how many new events there are. They are loaded on click only, so that rows do not move under the pointer. */
export function NewerButton({ count, onShow }: { readonly count: number; readonly onShow: () => void }) {
  const { t } = useTranslation('events');
  useShortcuts([{ keys: 'n', label: t('newer.show'), scope: 'page', run: () => count > 0 && onShow() }]);
  return (
    <span role="status" aria-live="polite">
      {count > 0 && (
        <Button kind="primary" icon="ascending" onClick={onShow} aria-label={t('newer.label', { count })}>
          <span className="figures">{t('newer.count', { count })}</span>
          <span className="text-text pointer-coarse:hidden" aria-hidden="true">
            <Key name="n" />
          </span>
        </Button>
      )}
    </span>
  );
}
