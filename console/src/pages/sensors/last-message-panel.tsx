import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';

/** The interval between refetches of the latest event, in milliseconds. */
const AGAIN_MS = 15_000;

/** The panel with the latest event of a sensor. */
export function LastMessagePanel({ sensorId }: { readonly sensorId: string }) {
  const { t } = useTranslation(['sensors', 'events']);
  const speedText = useSpeedText();
  const names = useCodeNames();
  const { data, error, refetch } = useQuery({
    ...service.events.getAll.queryOptions({ sensorId, take: 1 }),
    refetchInterval: AGAIN_MS,
  });
  const event = data?.events[0];
  return (
    <Panel
      title={t('lastMessage.title')}
      actions={
        event && (
          <Link to="/events" search={{ sensorId, event: event.id }} className="text-accent underline">
            {t('lastMessage.open')}
          </Link>
        )
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {data && !event && <p className="text-muted">{t('lastMessage.none')}</p>}
      {event && (
        <Facts
          facts={[
            [t('events:fields.timestamp'), <Moment key="at" at={event.timestamp} />],
            [t('events:fields.eventType'), t(`events:types.${event.eventType}`)],
            [
              t('events:fields.violationType'),
              event.violationType && <bdi>{names.violation(event.violationType)}</bdi>,
            ],
            [t('events:fields.severity'), event.severity && <SeverityBadge severity={event.severity} />],
            [
              t('events:fields.plate'),
              event.licensePlateNumber && <bdi className="font-mono">{event.licensePlateNumber}</bdi>,
            ],
            [
              t('events:fields.vehicleSpeed'),
              event.vehicleSpeed === null ? null : speedText(event.vehicleSpeed, 1),
            ],
            [
              t('events:fields.vehicleType'),
              event.vehicleType && <bdi>{names.vehicle(event.vehicleType)}</bdi>,
            ],
            [t('lastMessage.stored'), <Moment key="stored" at={event.createdAt} />],
            [
              t('lastMessage.id'),
              <bdi key="id" className="font-mono">
                {event.id}
              </bdi>,
            ],
          ]}
        />
      )}
    </Panel>
  );
}
