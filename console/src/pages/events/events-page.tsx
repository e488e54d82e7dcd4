import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { FilterValues } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { PlatesHidden, useSeesPlates } from '../../shared/service/plates.tsx';
import { useMay } from '../../shared/session/session.ts';
import { DataTable } from '../../shared/table/data-table.tsx';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { useSelection } from '../../shared/table/use-selection.ts';
import { isInPlace } from '../../shared/url/search.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { BulkBar } from './bulk/bulk-bar.tsx';
import { useEventColumns, useEventName, useMarkColumn, useReviewColumn } from './columns.tsx';
import { OpenEvent } from './detail/open-event.tsx';
import { NoEvents } from './empty.tsx';
import { ExportButton } from './export/export-button.tsx';
import { JumpToDate } from './jump-to-date.tsx';
import { NewerButton, useNewer } from './newer.tsx';
import { PlateQuestion, PlateReason } from './plate-reason.tsx';
import { type ReviewedEvent, useRowStates } from './triage/row-states.ts';
import { useTriage } from './triage/use-triage.ts';
import { keyOfEvent, useEventList } from './use-event-list.ts';
import { useEventFilters } from './use-filters.ts';

/** The list of events, with the details of the open event in a pane. */
export function EventsPage() {
  return (
    <WithDefaultView page="events">
      <Events />
    </WithDefaultView>
  );
}

function Events() {
  const { t, i18n } = useTranslation('events');
  const { event: openId, kiosk: _, ...input } = useSearch({ from: '/shell/events' });
  const navigate = useNavigate({ from: '/events' });
  const change = (values: FilterValues) =>
    void navigate({
      search: (all) => ({ ...all, ...values }),
      replace: isInPlace(values, 'event', openId),
    });
  const open = ({ id }: Pick<ReviewedEvent, 'id'>) => change({ event: id });
  const close = () => change({ event: undefined });

  const filters = useEventFilters();
  const seesPlates = useSeesPlates();
  const { pages, isHeld, reason, setReason } = useEventList(input);
  const states = useRowStates(pages.rows, pages.readAt);
  const triage = useTriage(states, open);
  const baseColumns = useEventColumns();
  const nameOf = useEventName();
  const reviewColumn = useReviewColumn();
  const markColumn = useMarkColumn();
  const isPaneOpen = openId !== undefined;
  const columns = useMemo(
    () => [...(isPaneOpen ? [markColumn] : []), ...baseColumns, reviewColumn],
    [isPaneOpen, markColumn, baseColumns, reviewColumn],
  );
  const progress = useProgress(pages, states.rows, input.processed === false);

  const cursor = useCursor({
    rows: states.rows,
    keyOf: keyOfEvent,
    activeKey: openId,
    onMove: open,
  });
  const mayDecide = useMay('manageIncidents');
  const mayDelete = useMay('deleteEvents');
  const isOffered = mayDecide || mayDelete;
  const selection = useSelection({ rows: states.rows, keyOf: keyOfEvent, activeKey: openId, isOffered });
  const { clear } = selection;
  const listKey = JSON.stringify(input);
  // biome-ignore lint/correctness/useExhaustiveDependencies: cleared when the filters or the sort order change
  useEffect(() => clear(), [listKey]);

  const sort = { by: input.sortBy ?? 'timestamp', order: input.sortOrder ?? 'desc' };
  const newer = useNewer({
    enabled: sort.by === 'timestamp' && sort.order === 'desc' && pages.total !== null && !pages.isOfBefore,
    input: reason === undefined ? input : { ...input, reason },
    rows: pages.rows,
    hasMore: pages.hasMore,
  });
  const isFiltered = filters.some(({ name }) => name in input);
  return (
    <>
      <PageHeader
        title={t('title')}
        note={
          pages.total !== null &&
          [
            t('total', { count: pages.total, n: pages.total.toLocaleString(i18n.language) }),
            ...progress,
          ].join(' · ')
        }
      >
        <NewerButton count={newer} onShow={() => void pages.restart()} />
        <JumpToDate input={input} onChange={change} />
        {!isHeld && <ExportButton input={input} reason={reason} filters={filters} />}
      </PageHeader>
      <PlatesHidden />
      <FilterBar page="events" filters={filters} values={input} onChange={change} />
      {input.licensePlateNumber !== undefined && seesPlates && !isHeld && (
        <PlateReason key={input.licensePlateNumber} reason={reason} onReason={setReason} />
      )}
      {isOffered && (
        <BulkBar
          input={input}
          reason={reason}
          total={pages.total}
          selection={selection}
          states={states}
          onDone={pages.restart}
        />
      )}
      <div className="flex min-h-0 grow">
        <div className="flex min-h-0 min-w-0 grow flex-col">
          {isHeld ? (
            <PlateQuestion
              key={input.licensePlateNumber}
              plate={input.licensePlateNumber ?? ''}
              onAnswer={setReason}
            />
          ) : (
            <DataTable
              label={t('title')}
              columns={columns}
              pages={{ ...pages, rows: states.rows }}
              keyOf={keyOfEvent}
              sort={sort}
              onSort={({ by, order }) => change({ sortBy: by, sortOrder: order })}
              activeKey={openId ?? null}
              onActivate={open}
              selected={selection.selected}
              nameOf={nameOf}
              isDone={isDone}
              {...(isOffered && { onSelect: selection.toggle, onSelectAll: selection.selectAll })}
              empty={<NoEvents isFiltered={isFiltered} onClear={() => void navigate({ search: {} })} />}
            />
          )}
        </div>
        {openId !== undefined && (
          <OpenEvent
            id={openId}
            cursor={cursor}
            triage={triage}
            states={states}
            onOpen={open}
            onClose={close}
          />
        )}
      </div>
    </>
  );
}

const isDone = ({ processed, archived }: ReviewedEvent): boolean => processed || archived;

/**
 * How many of the listed events have been processed since they were read, and, if the list is of those that were not
 * processed, how many are left.
 */
function useProgress(
  { rows, total }: Pick<ReturnType<typeof useEventList>['pages'], 'rows' | 'total'>,
  now: readonly ReviewedEvent[],
  isOfOpen: boolean,
): readonly string[] {
  const { t, i18n } = useTranslation('events');
  const done = useMemo(() => {
    const open = new Set(
      rows.filter(({ processed, archived }) => !processed && !archived).map(({ id }) => id),
    );
    return now.filter((row) => isDone(row) && open.has(row.id)).length;
  }, [rows, now]);
  if (done === 0 || total === null) return [];
  const n = (value: number) => value.toLocaleString(i18n.language);
  return [
    t('triage.done', { n: n(done) }),
    ...(isOfOpen ? [t('triage.left', { n: n(Math.max(0, total - done)) })] : []),
  ];
}
