import type { Sensor } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../service/service.ts';
import { Moment } from '../time/moment.tsx';
import { Facts, Panel } from '../ui/panel.tsx';

/** The panel with the properties of a sensor, its last signs of life, and which signs count. */
export function DetailsPanel({ sensor }: { readonly sensor: Sensor }) {
  const { t, i18n } = useTranslation(['sensors', 'common']);
  const { data: signs } = useQuery(service.sensors.getSignsOfLife.queryOptions({ id: sensor.id }));
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
