import type { ListedSensor } from '@gantry/contract/sensors';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { SensorStatusBadge } from '../../shared/status/sensor-status.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import { Moment } from '../../shared/time/moment.tsx';

/** The columns of the list of sensors. */
export function useSensorColumns(): readonly Column<ListedSensor>[] {
  const { t } = useTranslation(['sensors', 'common']);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('fields.name'),
        sortBy: 'name',
        csv: ({ name }) => name,
        cell: ({ id, name }) => (
          <Link to="/sensors/$sensorId" params={{ sensorId: id }} className="hover:underline">
            <bdi>{name}</bdi>
          </Link>
        ),
      },
      {
        id: 'status',
        header: t('fields.status'),
        sortBy: 'status',
        width: 'min(13rem, 44cqi)',
        csv: ({ status }) => t(`common:sensorStatus.${status}`),
        cell: ({ status, lastHeartbeat }) => (
          <SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />
        ),
      },
      {
        id: 'type',
        header: t('fields.type'),
        sortBy: 'type',
        width: '9rem',
        wideOnly: true,
        csv: ({ type }) => t(`common:sensorTypes.${type}`),
        cell: ({ type }) => t(`common:sensorTypes.${type}`),
      },
      {
        id: 'deviceId',
        header: t('fields.deviceId'),
        width: '10rem',
        wideOnly: true,
        csv: ({ deviceId }) => deviceId,
        cell: ({ deviceId }) => <bdi className="font-mono">{deviceId}</bdi>,
      },
      {
        id: 'lastHeartbeat',
        header: t('fields.lastHeartbeat'),
        sortBy: 'lastHeartbeat',
        width: '11.5rem',
        wideOnly: true,
        csv: ({ lastHeartbeat }) => lastHeartbeat,
        cell: ({ lastHeartbeat }) =>
          lastHeartbeat ? (
            <Moment at={lastHeartbeat} />
          ) : (
            <span className="text-muted">{t('neverHeard')}</span>
          ),
      },
    ],
    [t],
  );
}
