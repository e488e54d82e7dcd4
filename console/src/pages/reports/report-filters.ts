import type { ReportFilter, ReportFilters } from '@gantry/contract/reports';
import {
  eventTypes,
  incidentStatuses,
  incidentTypes,
  sensorTypes,
  severities,
} from '@gantry/contract/values';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { findCodes, useCodeNames, vehicles, violationCodes } from '../../shared/events/codes.ts';
import { type ReadFilterName, useReadFilters } from '../../shared/events/read-filters.ts';
import type { Filter } from '../../shared/filters/filter.ts';
import { incidentLookUp, locationLookUp, sensorLookUp } from '../../shared/places/look-ups.ts';

/** Those of its filters that the list of events does not have under the same name and label. */
type OwnFilter = Exclude<ReportFilter, ReadFilterName>;

/** All filters that a report can have, by name. */
export function useReportFilters(): Readonly<Record<ReportFilter, Filter>> {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const { t: events } = useTranslation('events');
  const names = useCodeNames();
  const reads = useReadFilters();
  return useMemo(() => {
    const text = (name: OwnFilter): Filter => ({ kind: 'text', name, label: t(`filters.${name}`) });
    const choice = <Value extends string>(
      name: OwnFilter,
      values: readonly Value[],
      labelOf: (value: Value) => string,
    ): Filter => ({
      kind: 'choice',
      name,
      label: t(`filters.${name}`),
      options: values.map((value) => ({ value, label: labelOf(value) })),
    });
    const code = (name: OwnFilter, codes: readonly string[], nameOf: (code: string) => string): Filter => ({
      kind: 'lookUp',
      name,
      label: t(`filters.${name}`),
      find: async (part) => findCodes(codes, nameOf, part),
      nameOf: async (value) => nameOf(value),
    });
    const yesNo = (name: OwnFilter): Filter => ({
      kind: 'yesNo',
      name,
      label: t(`filters.${name}`),
      yes: t('yes'),
      no: t('no'),
    });
    return {
      eventType: choice('eventType', eventTypes, (value) => events(`types.${value}`)),
      violationType: code('violationType', violationCodes, names.violation),
      vehicleType: code('vehicleType', vehicles, names.vehicle),
      licensePlateNumber: { ...text('licensePlateNumber'), hint: t('filters.plateHint') } as Filter,
      processed: yesNo('processed'),
      archived: yesNo('archived'),
      locationName: text('locationName'),
      ...reads,
      severity: choice('severity', severities, (value) => common(`severity.${value}`)),
      sensorId: {
        kind: 'lookUp',
        name: 'sensorId',
        label: t('filters.sensorId'),
        ...sensorLookUp,
      },
      locationId: {
        kind: 'lookUp',
        name: 'locationId',
        label: t('filters.locationId'),
        ...locationLookUp,
      },
      incidentId: {
        kind: 'lookUp',
        name: 'incidentId',
        label: t('filters.incidentId'),
        ...incidentLookUp,
      },
      sensorType: choice('sensorType', sensorTypes, (value) => common(`sensorTypes.${value}`)),
      incidentType: choice('incidentType', incidentTypes, (value) => common(`incidentTypes.${value}`)),
      incidentStatus: choice('incidentStatus', incidentStatuses, (value) =>
        common(`incidentStatus.${value}`),
      ),
    };
  }, [t, common, events, names, reads]);
}

/** Removes the filters that are not set, and trims the texts of the others. */
export function setFilters(filters: Readonly<Record<string, unknown>>): ReportFilters {
  return Object.fromEntries(
    Object.entries(filters).flatMap(([name, value]) => {
      const kept = typeof value === 'string' ? value.trim() : value;
      return kept === undefined || kept === '' ? [] : [[name, kept]];
    }),
  );
}
