import type { Event } from '@gantry/contract/events';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useLive } from '../live/use-live.ts';
import { Failure } from '../service/failure.tsx';
import { service } from '../service/service.ts';
import { SeverityBadge } from '../status/severity.tsx';
import { Moment } from '../time/moment.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';

const SHOWN = 8;
/** New events are shown together, in milliseconds: nobody reads fifty a second. */
const TOGETHER_MS = 2_000;

/** The newest events as they come in. While the pointer or the focus is on them, they stand still. */
export function NewestEvents() {
  const { t } = useTranslation(['overview', 'events']);
  const { kiosk } = useSearch({ from: '/shell/' });
  const options = service.events.getRecent.queryOptions({ limit: SHOWN });
  const { data, error, refetch } = useQuery(options);
  const held = useIncoming(options.queryKey);
  return (
    <Panel
      title={t('newest.events')}
      isFull
      actions={
        <Link to="/events" className="text-accent underline">
          {t('newest.all')}
        </Link>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={SHOWN} />}
      {data?.length === 0 && <p className="p-3 text-muted">{t('newest.noEvents')}</p>}
      <ul {...held}>
        {data?.map((event) => (
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
                  <bdi className="ms-2 font-mono">{event.licensePlateNumber}</bdi>
                )}
                <bdi className="ms-2 text-muted">{event.locationName ?? event.sensorName}</bdi>
              </span>
              {event.severity && event.severity !== 'LOW' && <SeverityBadge severity={event.severity} />}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** Puts what comes in to the front of the list, now and then. @returns what makes an element hold that back */
function useIncoming(queryKey: readonly unknown[]) {
  const client = useQueryClient();
  const waiting = useRef<Event[]>([]);
  const isHeld = useRef(false);
  useLive((message) => {
    if (message.type === 'events') waiting.current = [message.event, ...waiting.current].slice(0, SHOWN);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is always the same one
  useEffect(() => {
    const timer = setInterval(() => {
      if (isHeld.current || waiting.current.length === 0) return;
      const fresh = waiting.current;
      waiting.current = [];
      client.setQueryData<Event[]>(queryKey, (all = []) => {
        const known = new Set(fresh.map(({ id }) => id));
        return [...fresh, ...all.filter(({ id }) => !known.has(id))]
          .toSorted((one, other) => other.timestamp.getTime() - one.timestamp.getTime())
          .slice(0, SHOWN);
      });
    }, TOGETHER_MS);
    return () => clearInterval(timer);
  }, [client]);
  const hold = (held: boolean) => () => {
    isHeld.current = held;
  };
  return {
    onPointerEnter: hold(true),
    onPointerLeave: hold(false),
    onFocus: hold(true),
    onBlur: hold(false),
  };
}
