import type { Sensor, SensorClock } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useCodeNames } from '../../shared/events/codes.ts';
import { PlaceMap } from '../../shared/map/map.tsx';
import { useSensorPoints } from '../../shared/places/points.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useServiceTime, useTime } from '../../shared/time/use-time.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Badge } from '../../ui/badge.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';

/** The panel with the properties of a sensor, its last liveness signals, which signs count, and its clock. */
export function DetailsPanel({ sensor }: { readonly sensor: Sensor }) {
  const { t, i18n } = useTranslation(['sensors', 'common']);
  const { data: signs } = useQuery(service.sensors.getSignsOfLife.queryOptions({ id: sensor.id }));
  const { data: clock } = useQuery(service.sensors.getClock.queryOptions({ id: sensor.id }));
  const code = (text: string | null) => text && <bdi className="font-mono">{text}</bdi>;
  const moment = (at: Date | null) => at && <Moment at={at} />;
  return (
    <Panel title={t('details')}>
      <Facts
        facts={[
          [t('fields.type'), t(`common:sensorTypes.${sensor.type}`)],
          [t('fields.deviceId'), code(sensor.deviceId)],
          [t('fields.lastHeartbeat'), moment(sensor.lastHeartbeat) ?? t('neverHeard')],
          [t('fields.lastCommunication'), moment(sensor.lastCommunication)],
          [t('fields.lastEventAt'), moment(signs?.lastEventAt ?? null)],
          [
            t('fields.signs'),
            signs && t(signs.requiresHeartbeats ? 'fields.onlyHeartbeats' : 'fields.alsoEvents'),
          ],
          [t('fields.clock'), clock && <ClockState clock={clock} />],
          [
            t('fields.unusableTimes'),
            clock && clock.unusableTimes > 0 && (
              <>
                {t('clock.unusable', { count: clock.unusableTimes })} · {moment(clock.lastUnusableAt)}
              </>
            ),
          ],
          [t('fields.lastPing'), moment(sensor.lastPing)],
          [t('fields.ipAddress'), code(sensor.ipAddress)],
          [t('fields.macAddress'), code(sensor.macAddress)],
          [t('fields.firmware'), code(sensor.firmware)],
          [t('fields.make'), sensor.make && <bdi>{sensor.make}</bdi>],
          [t('fields.model'), sensor.model && <bdi>{sensor.model}</bdi>],
          [t('fields.serialNumber'), code(sensor.serialNumber)],
          [t('fields.warrantyUntil'), sensor.warrantyUntil && <Warranty until={sensor.warrantyUntil} />],
          [
            t('fields.certificatePlace'),
            sensor.certificatePlace && <PlaceOf text={sensor.certificatePlace} />,
          ],
          [t('fields.lane'), sensor.lane !== null && <bdi>{sensor.lane}</bdi>],
          [t('fields.direction'), sensor.direction === 'BOTH' ? t('bothDirections') : sensor.direction],
          [t('fields.tags'), sensor.tags.length > 0 && <bdi>{sensor.tags.join(', ')}</bdi>],
          [t('fields.eventsPerMin'), sensor.eventsPerMin.toLocaleString(i18n.language)],
          [t('fields.description'), sensor.description && <bdi>{sensor.description}</bdi>],
          [t('fields.createdAt'), <Moment key="created" at={sensor.createdAt} />],
        ]}
      />
    </Panel>
  );
}

/** The last day of a warranty, and whether it is over. @param until YYYY-MM-DD */
function Warranty({ until }: { readonly until: string }) {
  const { t } = useTranslation('sensors');
  const { dateFormat } = useTimeSettings();
  const [year = '', month = '', day = ''] = until.split('-');
  const isOver = useServiceTime().isoDay(new Date()) > until;
  return (
    <>
      <span dir="ltr" className="figures">
        {dateFormat.replace('YYYY', year).replace('MM', month).replace('DD', day)}
      </span>{' '}
      {isOver && (
        <Badge tone="medium" icon="time">
          {t('warrantyOver')}
        </Badge>
      )}
    </>
  );
}

/** Where something is kept: a link if it is one. */
function PlaceOf({ text }: { readonly text: string }) {
  if (!/^https:\/\//i.test(text)) return <bdi>{text}</bdi>;
  return (
    <a href={text} target="_blank" rel="noreferrer" className="text-accent underline">
      <bdi>{text}</bdi>
    </a>
  );
}

/** How far the clock of a sensor is off, and what is probably wrong. */
function ClockState({ clock }: { readonly clock: SensorClock }) {
  const { t } = useTranslation('sensors');
  const time = useTime();
  const { state, hint, offsetSeconds, reports } = clock;
  if (offsetSeconds === null) return null;
  if (state === 'UNKNOWN') {
    return (
      <span className="text-muted">
        {hint === 'LATE' ? t('clock.late') : t('clock.tooFew', { count: reports })}
      </span>
    );
  }
  if (state === 'OK') return <span>{t('clock.right')}</span>;
  const off = time.duration(Math.abs(offsetSeconds) * 1_000);
  return (
    <>
      <Badge tone={state === 'ERROR' ? 'critical' : 'medium'} icon={state === 'ERROR' ? 'failure' : 'alert'}>
        {offsetSeconds > 0 ? t('clock.behind', { off }) : t('clock.ahead', { off })}
      </Badge>
      <p className="text-muted">{hint === 'TIME_ZONE' ? t('clock.zoneHint') : t('clock.setHint')}</p>
    </>
  );
}

/**
 * The panel with the place of a sensor and a map. Without an address or coordinates of its own, the address and the
 * point on the map are those of its location.
 */
export function PlacePanel({ sensor }: { readonly sensor: Sensor }) {
  const { t } = useTranslation('sensors');
  const { locationId, coordinates, name } = sensor;
  const { data: location } = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId ?? '' }),
    enabled: locationId !== null,
  });
  const address = coordinates?.address ?? location?.address;
  const points = useSensorPoints([{ ...sensor, coordinates: coordinates ?? location?.coordinates ?? null }]);
  return (
    <Panel title={t('place')}>
      <Facts
        facts={[
          [
            t('fields.location'),
            location && (
              <Link
                to="/locations/$locationId"
                params={{ locationId: location.id }}
                className="text-accent underline"
              >
                <bdi>{location.name}</bdi>
              </Link>
            ),
          ],
          [t('fields.address'), address && <bdi key="address">{address}</bdi>],
          [
            t('fields.coordinates'),
            coordinates && (
              <span dir="ltr" className="figures">
                {coordinates.latitude.toFixed(5)}, {coordinates.longitude.toFixed(5)}
              </span>
            ),
          ],
        ]}
      />
      {points.length > 0 ? (
        <div className="mt-3 h-64">
          <PlaceMap label={name} points={points} selectedId={sensor.id} onSelect={ignore} />
        </div>
      ) : (
        <p className="mt-2 text-muted">{t('noPlace')}</p>
      )}
    </Panel>
  );
}

function ignore(): void {}

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
