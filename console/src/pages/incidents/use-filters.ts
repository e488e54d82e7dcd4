import { incidentStatuses, incidentTypes, severities } from '@gantry/contract/values';
import type { TFunction } from 'i18next';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { dateFilters, type Filter } from '../../shared/filters/filter.ts';
import { locationLookUp, sensorLookUp } from '../../shared/places/look-ups.ts';
import { queryClient } from '../../shared/service/queries.ts';
import { service } from '../../shared/service/service.ts';

/** The filters by type and severity. */
export function kindFilters(t: TFunction<['incidents', 'common']>): Filter[] {
  return [
    {
      kind: 'choice',
      name: 'type',
      label: t('fields.type'),
      options: incidentTypes.map((value) => ({ value, label: t(`common:incidentTypes.${value}`) })),
    },
    {
      kind: 'choice',
      name: 'severity',
      label: t('fields.severity'),
      options: severities.map((value) => ({ value, label: t(`common:severity.${value}`) })),
    },
  ];
}

/** Every filter of `incidents.getAll`. */
export function useIncidentFilters(): readonly Filter[] {
  const { t } = useTranslation(['incidents', 'common']);
  return useMemo<readonly Filter[]>(() => {
    const whoever = [
      { value: 'me', label: t('assignee.me') },
      { value: 'nobody', label: t('assignee.nobody') },
    ];
    return [
      { kind: 'text', name: 'search', label: t('filters.search'), hint: t('filters.searchHint') },
      {
        kind: 'choices',
        name: 'status',
        label: t('fields.status'),
        options: incidentStatuses.map((value) => ({ value, label: t(`common:incidentStatus.${value}`) })),
      },
      ...kindFilters(t),
      {
        kind: 'lookUp',
        name: 'assignedTo',
        label: t('fields.assignedTo'),
        find: async (part) => [
          ...whoever.filter(({ label }) => label.toLocaleLowerCase().includes(part.toLocaleLowerCase())),
          ...(await findAssignees(part)).map(({ id, name }) => ({ value: id, label: name })),
        ],
        nameOf: async (id) =>
          whoever.find(({ value }) => value === id)?.label ??
          (await findAssignees('')).find((person) => person.id === id)?.name ??
          id,
      },
      { kind: 'lookUp', name: 'sensorId', label: t('fields.sensor'), ...sensorLookUp },
      { kind: 'lookUp', name: 'locationId', label: t('fields.location'), ...locationLookUp },
      ...dateFilters(t('filters.from'), t('filters.until')),
    ];
  }, [t]);
}

export interface Person {
  readonly id: string;
  readonly name: string;
}

/** How long the list of assignees is cached, in milliseconds. */
const FRESH_MS = 60_000;

/** Finds the users to whom incidents can be assigned, by a part of their name. */
export async function findAssignees(part: string): Promise<readonly Person[]> {
  const { assignees } = await queryClient.fetchQuery({
    ...service.incidents.getAssignees.queryOptions(),
    staleTime: FRESH_MS,
  });
  const wanted = part.toLocaleLowerCase();
  return assignees.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
}
