import type { Incident } from '@gantry/contract/incidents';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { DataTable } from '../../shared/table/data-table.tsx';
import type { Sort } from '../../shared/table/header-cell.tsx';
import type { Pages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { useIncidentColumns } from './columns.tsx';
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

/** The incidents as a table. */
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
