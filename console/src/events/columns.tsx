import type { Event } from '@gantry/contract/events';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { SeverityBadge } from '../status/severity.tsx';
import type { Column } from '../table/data-table.tsx';
import { Moment } from '../time/moment.tsx';
import { Badge } from '../ui/badge.tsx';

/** The columns of every list of events. */
export function useEventColumns(): readonly Column<Event>[] {
  const { t } = useTranslation('events');
  return useMemo(
    () => [
      {
        id: 'timestamp',
        header: t('fields.timestamp'),
        sortBy: 'timestamp',
        width: '11.5rem',
        cell: ({ timestamp }) => <Moment at={timestamp} />,
      },
      {
        id: 'type',
        header: t('fields.eventType'),
        sortBy: 'eventType',
        cell: ({ eventType, violationType }) => (
          <>
            {t(`types.${eventType}`)}
            {violationType !== null && <bdi className="text-muted"> {violationType}</bdi>}
          </>
        ),
      },
      {
        id: 'severity',
        header: t('fields.severity'),
        sortBy: 'severity',
        width: '7rem',
        cell: ({ severity }) => severity && <SeverityBadge severity={severity} />,
      },
      {
        id: 'plate',
        header: t('fields.plate'),
        width: '9rem',
        cell: ({ licensePlateNumber }) => <bdi className="font-mono">{licensePlateNumber}</bdi>,
      },
      {
        id: 'speed',
        header: t('fields.speed'),
        width: '6rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ vehicleSpeed }) => vehicleSpeed !== null && Math.round(vehicleSpeed),
      },
      {
        id: 'vehicle',
        header: t('fields.vehicleType'),
        width: '7rem',
        wideOnly: true,
        cell: ({ vehicleType }) => <bdi>{vehicleType}</bdi>,
      },
      {
        id: 'place',
        header: t('fields.location'),
        wideOnly: true,
        cell: ({ locationName, sensorName }) => <bdi>{locationName ?? sensorName}</bdi>,
      },
      {
        id: 'state',
        header: t('fields.state'),
        width: '7rem',
        wideOnly: true,
        cell: ({ processed, archived }) =>
          processed || archived ? (
            <Badge tone="calm" icon="acknowledge">
              {archived ? t('state.archived') : t('state.processed')}
            </Badge>
          ) : null,
      },
    ],
    [t],
  );
}
