import type { LookUpReason } from '@gantry/contract/events';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { useHasFeature } from '../../shared/service/features.ts';
import { PlatesHidden, useSeesPlates } from '../../shared/service/plates.tsx';
import { useMay } from '../../shared/session/session.ts';
import { DataTable } from '../../shared/table/data-table.tsx';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { useSelection } from '../../shared/table/use-selection.ts';
import { usePane } from '../../shared/url/use-pane.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { Button } from '../../ui/button.tsx';
import { later } from '../../ui/load-code.ts';
import { useEventColumns, useEventName, useMarkColumn, useReviewColumn } from './columns.tsx';
import { OpenEvent } from './detail/open-event.tsx';
import { NoEvents } from './empty.tsx';
import { JumpToDate } from './jump-to-date.tsx';
import { NewerButton, useNewer } from './newer.tsx';
import { PlateQuestion, PlateReason } from './plate-reason.tsx';
import type { EventFilters } from './search.ts';
import { type ReviewedEvent, useRowStates } from './triage/row-states.ts';
import { useTriage } from './triage/use-triage.ts';
import { keyOfEvent, useEventList } from './use-event-list.ts';
import { useEventFilters } from './use-filters.ts';

const useBulkBar = later(async () => (await import('./bulk/bulk-bar.tsx')).BulkBar);

/** The list of events, with the details of the open event in a pane. */
export function EventsPage() {
  return (
    <WithDefaultView page="events">
      <Events />
    </WithDefaultView>
  );
}

function Events() {
  const { t } = useTranslation('events');
  const { event: openId, kiosk: _, ...input } = useSearch({ from: '/shell/events' });
  const { change, open, close, clear: clearFilters } = usePane('/events', 'event', openId);

  const filters = useEventFilters();
  const seesPlates = useSeesPlates();
  const { pages, isHeld, why, setWhy } = useEventList(input);
  const states = useRowStates(pages.rows, pages.readAt);
  const triage = useTriage(states, open);
  const nameOf = useEventName();
  const columns = useColumns(openId !== undefined);
  const cursor = useCursor({
    rows: states.rows,
    keyOf: keyOfEvent,
    activeKey: openId,
    onMove: open,
  });
  const { selection, isOffered } = useEventSelection(states.rows, openId, JSON.stringify(input));
  const BulkBar = useBulkBar(selection.selected.size > 0);
  const sort = { by: input.sortBy ?? 'timestamp', order: input.sortOrder ?? 'desc' };
  const newer = useNewer({
    enabled:
      sort.by === 'timestamp' && sort.order === 'desc' && pages.total !== null && !pages.isPreviousData,
    input: { ...input, ...why },
    rows: pages.rows,
    hasMore: pages.hasMore,
  });
  const isFiltered = filters.some(({ name }) => name in input);
  const note = useNote(pages, states.rows, input.processed === false);
  return (
    <>
      <PageHeader title={t('title')} note={note}>
        <NewerButton count={newer} onShow={() => void pages.restart()} />
        <JumpToDate input={input} onChange={change} />
        {!isHeld && <ExportButton input={input} why={why} filters={filters} />}
      </PageHeader>
      <PlatesHidden />
      <FilterBar page="events" filters={filters} values={input} onChange={change} />
      {input.licensePlateNumber !== undefined && seesPlates && !isHeld && (
        <PlateReason key={input.licensePlateNumber} why={why} onWhy={setWhy} />
      )}
      {isOffered && BulkBar && (
        <BulkBar
          input={input}
          why={why}
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
              onAnswer={setWhy}
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
              empty={<NoEvents isFiltered={isFiltered} onClear={clearFilters} />}
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

/** The columns of the list. Next to a pane there is one more, which marks the rows. */
function useColumns(isPaneOpen: boolean) {
  const baseColumns = useEventColumns();
  const reviewColumn = useReviewColumn();
  const markColumn = useMarkColumn();
  return useMemo(
    () => [...(isPaneOpen ? [markColumn] : []), ...baseColumns, reviewColumn],
    [isPaneOpen, markColumn, baseColumns, reviewColumn],
  );
}

/**
 * The selected events, and whether the user may do something with them.
 * @param listKey identifies the filters and the sort order; when they change, the selection is cleared
 */
function useEventSelection(rows: readonly ReviewedEvent[], openId: string | undefined, listKey: string) {
  const mayDecide = useMay('manageIncidents');
  const mayDelete = useMay('deleteEvents');
  const isOffered = mayDecide || mayDelete;
  const selection = useSelection({ rows, keyOf: keyOfEvent, activeKey: openId, isOffered });
  const { clear } = selection;
  // biome-ignore lint/correctness/useExhaustiveDependencies: cleared when the filters or the sort order change
  useEffect(() => clear(), [listKey]);
  return { selection, isOffered };
}

const isDone = ({ processed, archived }: ReviewedEvent): boolean => processed || archived;

/**
 * The number of events, how many of the listed ones have been processed since they were read, and, if the list is of
 * those that were not processed, how many are left; null until the list is loaded.
 */
function useNote(
  { rows, total }: Pick<ReturnType<typeof useEventList>['pages'], 'rows' | 'total'>,
  now: readonly ReviewedEvent[],
  isOfOpen: boolean,
): string | null {
  const { t, i18n } = useTranslation('events');
  const done = useMemo(() => {
    const open = new Set(
      rows.filter(({ processed, archived }) => !processed && !archived).map(({ id }) => id),
    );
    return now.filter((row) => isDone(row) && open.has(row.id)).length;
  }, [rows, now]);
  if (total === null) return null;
  const n = (value: number) => value.toLocaleString(i18n.language);
  return [
    t('total', { count: total, n: n(total) }),
    done > 0 && t('triage.done', { n: n(done) }),
    done > 0 && isOfOpen && t('triage.left', { n: n(Math.max(0, total - done)) }),
  ]
    .filter(Boolean)
    .join(' · ');
}

const useExportDialog = later(async () => (await import('./export/export-dialog.tsx')).ExportDialog);

interface ExportButtonProps {
  readonly input: EventFilters;
  readonly why: LookUpReason;
  readonly filters: readonly Filter[];
}

/** Opens the export dialog for the list. Shown to users who may generate and view reports. */
function ExportButton(props: ExportButtonProps) {
  const { t } = useTranslation('events');
  const [open, setOpen] = useState(false);
  const ExportDialog = useExportDialog(open);
  const mayGenerate = useMay('generateReports');
  const mayRead = useMay('viewReports');
  const hasReports = useHasFeature('reports');
  if (!mayGenerate || !mayRead || !hasReports) return null;
  return (
    <>
      <Button icon="download" onClick={() => setOpen(true)}>
        {t('export.export')}
      </Button>
      {open && ExportDialog && <ExportDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}
