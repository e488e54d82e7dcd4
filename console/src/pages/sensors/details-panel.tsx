import type { Sensor, SensorClock } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useTime } from '../../shared/time/use-time.ts';
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
          [t('fields.eventsPerMin'), sensor.eventsPerMin.toLocaleString(i18n.language)],
          [t('fields.description'), sensor.description && <bdi>{sensor.description}</bdi>],
          [t('fields.createdAt'), <Moment key="created" at={sensor.createdAt} />],
        ]}
      />
    </Panel>
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
