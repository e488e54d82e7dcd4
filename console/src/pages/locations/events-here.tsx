import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { SeverityBadge } from '../../shared/status/severity.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

const SHOWN = 10;
const AGAIN_MS = 15_000;

/** The panel with the latest events at a location. */
export function EventsHere({ name }: { readonly name: string }) {
  const { t } = useTranslation(['locations', 'events']);
  const names = useCodeNames();
  const speedText = useSpeedText();
  const { data, error, refetch } = useQuery({
    ...service.events.getAll.queryOptions({ locationName: name, take: SHOWN }),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Panel
      title={t('latest.title')}
      isFull
      actions={
        <Link to="/events" search={{ locationName: name }} className="text-accent underline">
          {t('latest.all')}
        </Link>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={SHOWN} />}
      {data?.events.length === 0 && <p className="p-3 text-muted">{t('latest.none')}</p>}
      <ul>
        {data?.events.map(
          ({ id, timestamp, eventType, violationType, licensePlateNumber, vehicleSpeed, severity }) => (
            <li key={id} className="border-b last:border-b-0">
              <Link
                to="/events"
                search={{ locationName: name, event: id }}
                className="flex min-h-9 items-center gap-3 px-3 hover:bg-hover pointer-coarse:min-h-11"
              >
                <Moment at={timestamp} className="text-muted" />
                <span className="one-line min-w-0 grow">
                  <bdi>
                    {violationType === null ? t(`events:types.${eventType}`) : names.violation(violationType)}
                  </bdi>
                  {licensePlateNumber && (
                    <span className="ms-2 font-mono">
                      <bdi>{licensePlateNumber}</bdi>
                    </span>
                  )}
                </span>
                {vehicleSpeed !== null && (
                  <span className="figures whitespace-nowrap text-muted">{speedText(vehicleSpeed)}</span>
                )}
                {severity && <SeverityBadge severity={severity} filled={false} />}
              </Link>
            </li>
          ),
        )}
      </ul>
    </Panel>
  );
}
