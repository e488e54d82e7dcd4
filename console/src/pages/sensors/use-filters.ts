import { sensorStatuses, sensorTypes } from '@gantry/contract/values';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../shared/filters/filter.ts';
import { locationLookUp } from '../../shared/places/look-ups.ts';

/** The filters of the list and the map of sensors: all those of `sensors.getAll`. */
export function useSensorFilters(): readonly Filter[] {
  const { t } = useTranslation(['sensors', 'common']);
  return useMemo(
    () => [
      { kind: 'text', name: 'search', label: t('sensors:filters.search') },
      {
        kind: 'choice',
        name: 'status',
        label: t('sensors:fields.status'),
        options: sensorStatuses.map((value) => ({ value, label: t(`common:sensorStatus.${value}`) })),
      },
      {
        kind: 'choice',
        name: 'type',
        label: t('sensors:fields.type'),
        options: sensorTypes.map((value) => ({ value, label: t(`common:sensorTypes.${value}`) })),
      },
      {
        kind: 'lookUp',
        name: 'locationId',
        label: t('sensors:fields.location'),
        ...locationLookUp,
      },
    ],
    [t],
  );
}
