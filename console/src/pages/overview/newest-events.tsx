import type { Event } from '@gantry/contract/events';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLive } from '../../shared/live/use-live.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { api, service } from '../../shared/service/service.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { RowList } from './row-list.tsx';

/** The newest events, updated live. Updates pause while the list is hovered or focused, except on the wall display. */
export function NewestEvents() {
  const { t } = useTranslation(['overview', 'events']);
  const { kiosk } = useSearch({ from: '/shell/' });
  const { events, error, refetch, isHeld, hold } = useNewestEvents(!kiosk);
  return (
    <Panel
      title={t('newest.events')}
      isFull
      actions={
        <>
          {isHeld && <span className="text-sm text-muted">{t('newest.held')}</span>}
          <Link to="/events" className="text-accent underline">
            {t('newest.all')}
          </Link>
        </>
      }
    >
      {error && !events && <Failure error={error} onRetry={refetch} />}
      {!error && !events && <Skeleton rows={SHOWN} />}
      {events?.length === 0 && <p className="p-3 text-muted">{t('newest.noEvents')}</p>}
      <RowList isWall={kiosk === 1} {...hold}>
        {events?.map((event) => (
          <li key={event.id} className="border-b last:border-b-0">
            <Link
              to="/events"
              search={{ event: event.id }}
              className="flex min-h-9 items-center gap-2 px-3 hover:bg-hover pointer-coarse:min-h-11"
            >
              <Moment at={event.timestamp} as="time" className="text-muted" />
              <span className="one-line min-w-0 grow">
                <span>{t(`events:types.${event.eventType}`)}</span>
                {!kiosk && event.licensePlateNumber && (
                  <span className="ms-2 font-mono">
                    <bdi>{event.licensePlateNumber}</bdi>
                  </span>
                )}
                <span className="ms-2 text-muted">
                  <bdi>{event.locationName ?? event.sensorName}</bdi>
                </span>
              </span>
              {event.severity && event.severity !== 'LOW' && <SeverityBadge severity={event.severity} />}
            </Link>
          </li>
        ))}
      </RowList>
    </Panel>
  );
}

/** Number of events shown. */
const SHOWN = 8;
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
function useNewestEvents(mayHold: boolean) {
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
