import { eventTypes } from '@gantry/contract/values';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { findCodes, useCodeNames, vehicles, violationCodes } from '../../shared/events/codes.ts';
import { useReadFilters } from '../../shared/events/read-filters.ts';
import { dateFilters, type Filter } from '../../shared/filters/filter.ts';
import { sensorLookUp } from '../../shared/places/look-ups.ts';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { api } from '../../shared/service/service.ts';

/** The filters of the events page. The plate filter is left out for users who may not see plates. */
export function useEventFilters(): readonly Filter[] {
  const { t } = useTranslation('events');
  const names = useCodeNames();
  const seesPlates = useSeesPlates();
  const reads = useReadFilters();
  return useMemo(
    () => [
      {
        kind: 'choice',
        name: 'eventType',
        label: t('fields.eventType'),
        options: eventTypes.map((value) => ({ value, label: t(`types.${value}`) })),
      },
      {
        kind: 'lookUp',
        name: 'violationType',
        label: t('fields.violationType'),
        find: async (part) => findCodes(violationCodes, names.violation, part),
        nameOf: async (code) => names.violation(code),
      },
      ...(seesPlates
        ? [
            {
              kind: 'text',
              name: 'licensePlateNumber',
              label: t('fields.plate'),
              hint: t('filters.plateHint'),
              onEnter: true,
            } as const,
          ]
        : []),
      {
        kind: 'lookUp',
        name: 'vehicleType',
        label: t('fields.vehicleType'),
        find: async (part) => findCodes(vehicles, names.vehicle, part),
        nameOf: async (code) => names.vehicle(code),
      },
      { kind: 'lookUp', name: 'sensorId', label: t('fields.sensor'), ...sensorLookUp },
      {
        kind: 'lookUp',
        name: 'locationName',
        label: t('fields.location'),
        // The service matches the whole name, so the value is the name of a location, not its id.
        find: async (search) => {
          const input = { search, take: 20, sortBy: 'name', sortOrder: 'asc' } as const;
          const { locations } = await api.locations.getAll.query(input);
          return locations.map(({ name }) => ({ value: name, label: name }));
        },
        nameOf: async (name) => name,
      },
      reads.minSpeed,
      reads.maxSpeed,
      reads.minExcess,
      reads.plateRegion,
      reads.minConfidence,
      reads.lane,
      reads.direction,
      reads.sensorTags,
      reads.road,
      reads.fromKilometre,
      reads.toKilometre,
      reads.severities,
      ...dateFilters(t('filters.from'), t('filters.until')),
      reads.weekdays,
      reads.hours,
      {
        kind: 'yesNo',
        name: 'processed',
        label: t('filters.processed'),
        yes: t('filters.done'),
        no: t('filters.open'),
      },
      {
        kind: 'yesNo',
        name: 'archived',
        label: t('filters.archived'),
        yes: t('filters.yes'),
        no: t('filters.no'),
      },
    ],
    [t, names, seesPlates, reads],
  );
}
