import type { Location } from '@gantry/contract/locations';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useLiveTraffic } from '../../shared/places/all-locations.ts';
import { speedFigure } from '../../shared/status/speed.ts';
import { TrafficLevelBadge } from '../../shared/status/traffic-level.tsx';
import type { Column } from '../../shared/table/data-table.tsx';

/** The columns of the list of locations. */
export function useLocationColumns(): readonly Column<Location>[] {
  const { t, i18n } = useTranslation('locations');
  const { data } = useLiveTraffic();
  return useMemo(() => {
    const now = new Map(data?.locations.map((traffic) => [traffic.locationId, traffic]));
    return [
      {
        id: 'name',
        header: t('fields.name'),
        sortBy: 'name',
        csv: ({ name }) => name,
        cell: ({ id, name }) => (
          <Link to="/locations/$locationId" params={{ locationId: id }} className="hover:underline">
            <bdi>{name}</bdi>
          </Link>
        ),
      },
      {
        id: 'level',
        header: t('fields.level'),
        width: 'min(9rem, 30cqi)',
        cell: ({ id }) => {
          const traffic = now.get(id);
          return traffic && <TrafficLevelBadge level={traffic.level} volume={traffic.volume} />;
        },
      },
      {
        id: 'speed',
        header: t('fields.meanSpeed'),
        width: '7rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ id }) => {
          const speed = now.get(id)?.meanSpeed ?? null;
          return speed !== null && speedFigure(speed, i18n.language);
        },
      },
      {
        id: 'limit',
        header: t('fields.speedLimit'),
        width: '7rem',
        isFigure: true,
        wideOnly: true,
        csv: ({ speedLimit }) => speedLimit,
        cell: ({ speedLimit }) => speedLimit?.toLocaleString(i18n.language),
      },
      {
        id: 'sensors',
        header: t('fields.sensorCount'),
        width: '6rem',
        isFigure: true,
        notNarrow: true,
        csv: ({ sensorCount }) => sensorCount,
        cell: ({ sensorCount }) => sensorCount.toLocaleString(i18n.language),
      },
      {
        id: 'address',
        header: t('fields.address'),
        wideOnly: true,
        csv: ({ address }) => address,
        cell: ({ address }) => <bdi className="text-muted">{address}</bdi>,
      },
    ];
  }, [t, i18n.language, data]);
}
