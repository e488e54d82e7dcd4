import type { Incident } from '@gantry/contract/incidents';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { IncidentStatusBadge } from '../../shared/status/incident-status.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { SeverityBadge } from '../../shared/status/severity.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import { Moment } from '../../shared/time/moment.tsx';

/** The columns of the list of incidents. */
export function useIncidentColumns(): readonly Column<Incident>[] {
  const { t } = useTranslation(['incidents', 'common']);
  const titleOf = useIncidentTitle();
  return useMemo(
    () => [
      {
        id: 'status',
        header: t('fields.status'),
        sortBy: 'status',
        width: 'min(8.5rem, 40cqi)',
        csv: ({ status }) => t(`common:incidentStatus.${status}`),
        cell: ({ status }) => <IncidentStatusBadge status={status} />,
      },
      {
        id: 'severity',
        header: t('fields.severity'),
        // Of one severity, those that nobody has acknowledged, then the oldest.
        sortBy: 'priority',
        width: 'min(7rem, 28cqi)',
        csv: ({ severity }) => t(`common:severity.${severity}`),
        cell: ({ severity }) => <SeverityBadge severity={severity} />,
      },
      {
        id: 'title',
        header: t('fields.title'),
        csv: ({ title }) => title,
        cell: (incident) => <bdi>{titleOf(incident)}</bdi>,
      },
      {
        id: 'type',
        header: t('fields.type'),
        width: '10rem',
        wideOnly: true,
        csv: ({ type }) => t(`common:incidentTypes.${type}`),
        cell: ({ type }) => t(`common:incidentTypes.${type}`),
      },
      {
        id: 'assignedTo',
        header: t('fields.assignedTo'),
        width: '11rem',
        wideOnly: true,
        csv: ({ assignedTo }) => assignedTo?.name ?? null,
        cell: ({ assignedTo }) =>
          assignedTo ? (
            <bdi>{assignedTo.name}</bdi>
          ) : (
            <span className="text-muted">{t('assignee.nobody')}</span>
          ),
      },
      {
        id: 'openedAt',
        header: t('fields.openedAt'),
        sortBy: 'openedAt',
        width: '11.5rem',
        wideOnly: true,
        csv: ({ openedAt }) => openedAt,
        cell: ({ openedAt }) => <Moment at={openedAt} />,
      },
      {
        id: 'updatedAt',
        header: t('fields.updatedAt'),
        sortBy: 'updatedAt',
        width: '8rem',
        wideOnly: true,
        csv: ({ updatedAt }) => updatedAt,
        cell: ({ updatedAt }) => <Moment at={updatedAt} as="ago" />,
      },
    ],
    [t, titleOf],
  );
}
