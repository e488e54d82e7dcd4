import type { Incident, IncidentStatus } from '@gantry/contract/incidents';
import { incidentStatuses } from '@gantry/contract/values';
import { keepPreviousData, useQueries } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { ThinBar } from '../../ui/skeleton.tsx';
import { BoardColumn } from './board-column.tsx';
import { type IncidentCommands, useIncidentKeys } from './use-commands.tsx';
import type { IncidentsInput } from './use-incidents-search.ts';

/** Cards per column initially, and the maximum after the user asks for more; the list shows all incidents. */
const AT_FIRST = 25;
const MAX_CARDS = 100;

interface BoardProps {
  readonly input: IncidentsInput;
  readonly cursor: string | undefined;
  readonly onMove: (id: string) => void;
  readonly onOpen: (id: string) => void;
  readonly commands: IncidentCommands;
  /** Shown if no column has a card. */
  readonly empty: ReactNode;
}

/** The incidents as cards, with a column for each status. */
export function Board({ input, cursor, onMove, onOpen, commands, empty }: BoardProps) {
  const { t, i18n } = useTranslation('incidents');
  const [long, setLong] = useState<ReadonlySet<IncidentStatus>>(new Set());
  const statuses = incidentStatuses.filter((status) => !input.status || input.status.includes(status));
  const queries = useQueries({
    queries: statuses.map((status) =>
      service.incidents.getAll.queryOptions(
        { ...input, status: [status], take: long.has(status) ? MAX_CARDS : AT_FIRST },
        { placeholderData: keepPreviousData },
      ),
    ),
  });
  const columns = queries.map(({ data }) => data?.incidents ?? []);
  const active = columns.flat().find(({ id }) => id === cursor);
  useIncidentKeys(active, commands);
  useBoardKeys(columns, cursor, onMove, i18n.dir() === 'rtl');
  useShortcuts([
    { keys: 'Enter', label: t('actions.open'), scope: 'page', run: () => active && onOpen(active.id) },
  ]);
  useEffect(() => {
    const card = cursor && document.querySelector<HTMLElement>(`[data-card="${CSS.escape(cursor)}"]`);
    if (card) card.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [cursor]);

  const failed = queries.filter(({ error, data }) => error && !data);
  const retry = () => {
    for (const { refetch } of failed) void refetch();
  };
  if (failed[0]) {
    return (
      <div className="p-4">
        <Failure error={failed[0].error} onRetry={retry} />
      </div>
    );
  }
  if (queries.every(({ data }) => data?.total === 0)) return empty;
  return (
    <>
      <ThinBar active={queries.some(({ isFetching }) => isFetching)} />
      <div
        data-wide
        className="flex min-h-0 grow flex-col gap-3 overflow-auto px-4 py-3 md:flex-row md:overflow-y-hidden"
      >
        {statuses.map((status, at) => (
          <BoardColumn
            key={status}
            status={status}
            incidents={columns[at] ?? []}
            total={queries[at]?.data?.total ?? null}
            cursor={cursor}
            onMove={onMove}
            commands={commands}
            onMore={long.has(status) ? null : () => setLong(new Set([...long, status]))}
          />
        ))}
      </div>
    </>
  );
}

/** `j` and `k` move the cursor within a column, `h` and `l` between columns; the arrow keys do the same. */
function useBoardKeys(
  columns: readonly (readonly Incident[])[],
  cursor: string | undefined,
  onMove: (id: string) => void,
  isRightToLeft: boolean,
): void {
  const { t } = useTranslation('incidents');
  const column = columns.findIndex((cards) => cards.some(({ id }) => id === cursor));
  const row = columns[column]?.findIndex(({ id }) => id === cursor) ?? -1;
  const goTo = (card: Incident | undefined) => card && onMove(card.id);
  const first = () => goTo(columns.find((cards) => cards.length > 0)?.[0]);
  const along = (by: 1 | -1) => (column < 0 ? first() : goTo(columns[column]?.[row + by]));
  const across = (by: 1 | -1) => {
    if (column < 0) return first();
    let next = column + by;
    while (columns[next]?.length === 0) next += by;
    const cards = columns[next];
    goTo(cards?.[Math.min(row, cards.length - 1)]);
  };
  const [before, after] = isRightToLeft
    ? (['ArrowRight', 'ArrowLeft'] as const)
    : (['ArrowLeft', 'ArrowRight'] as const);
  const keys = [
    ['j', t('board.next'), () => along(1)],
    ['k', t('board.previous'), () => along(-1)],
    ['l', t('board.nextColumn'), () => across(1)],
    ['h', t('board.previousColumn'), () => across(-1)],
    ['ArrowDown', t('board.next'), () => along(1)],
    ['ArrowUp', t('board.previous'), () => along(-1)],
    [after, t('board.nextColumn'), () => across(1)],
    [before, t('board.previousColumn'), () => across(-1)],
  ] as const;
  useShortcuts(keys.map(([key, label, run]) => ({ keys: key, label, scope: 'page', run })));
}
