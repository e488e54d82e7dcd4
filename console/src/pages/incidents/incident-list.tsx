import type { Incident } from '@gantry/contract/incidents';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { IncidentStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { nameColumn, timeColumn } from '../../shared/table/column.tsx';
import { type Column, DataTable } from '../../shared/table/data-table.tsx';
import type { Sort } from '../../shared/table/header-cell.tsx';
import type { Pages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { type IncidentCommands, useIncidentKeys } from './use-commands.tsx';
import type { IncidentsInput } from './use-incidents-search.ts';

interface IncidentListProps {
  readonly pages: Pages<Incident>;
  readonly input: IncidentsInput;
  readonly cursor: string | undefined;
  readonly onMove: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly onSort: (sort: Sort) => void;
  readonly commands: IncidentCommands;
  readonly empty: ReactNode;
}

export function IncidentList({
  pages,
  input,
  cursor,
  onMove,
  onOpen,
  onSort,
  commands,
  empty,
}: IncidentListProps) {
  const { t } = useTranslation('incidents');
  const columns = useIncidentColumns();
  const { active } = useCursor({
    rows: pages.rows,
    keyOf: pages.keyOf,
    activeKey: cursor,
    onMove: ({ id }) => onMove(id),
    onOpen: ({ id }) => onOpen(id),
  });
  useIncidentKeys(active, commands);
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      pages={pages}
      keyOf={pages.keyOf}
      sort={{ by: input.sortBy ?? 'openedAt', order: input.sortOrder ?? 'desc' }}
      onSort={onSort}
      activeKey={cursor ?? null}
      onActivate={({ id }) => onOpen(id)}
      empty={empty}
    />
  );
}

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
      nameColumn('type', t('fields.type'), ({ type }) => t(`common:incidentTypes.${type}`), {
        width: '10rem',
        wideOnly: true,
      }),
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
      timeColumn('openedAt', t('fields.openedAt'), ({ openedAt }) => openedAt, {
        sortBy: 'openedAt',
        wideOnly: true,
      }),
      timeColumn('updatedAt', t('fields.updatedAt'), ({ updatedAt }) => updatedAt, {
        sortBy: 'updatedAt',
        width: '8rem',
        wideOnly: true,
        as: 'ago',
      }),
    ],
    [t, titleOf],
  );
}
