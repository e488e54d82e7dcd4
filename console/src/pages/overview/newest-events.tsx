import { Link, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { SeverityBadge } from '../../shared/status/severity.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { RowList } from './row-list.tsx';
import { SHOWN, useNewestEvents } from './use-newest-events.ts';

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
