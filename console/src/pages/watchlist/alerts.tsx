import type { WatchlistAlert } from '@gantry/contract/watchlist';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { forgetUnseen, useHasUnseen } from '../../shared/announce/unseen.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { api, service } from '../../shared/service/service.ts';
import { DataTable } from '../../shared/table/data-table.tsx';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { NotOpened, useOpened } from '../../shared/table/opened.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { useSelection } from '../../shared/table/use-selection.ts';
import { useTime } from '../../shared/time/use-time.ts';
import { usePane } from '../../shared/url/use-pane.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { AlertAside, AlertPane } from './alert-pane.tsx';
import { BulkAcknowledge } from './bulk-acknowledge.tsx';
import { useAlertColumns } from './columns.tsx';
import { useAcknowledge } from './use-acknowledge.ts';
import { useAlertFilters } from './use-filters.ts';

const keyOf = ({ id }: WatchlistAlert): string => id;

/** The list of alerts, newest first by default, with the details of the selected one. */
export function Alerts() {
  return (
    <WithDefaultView page="alerts">
      <AlertList />
    </WithDefaultView>
  );
}

function AlertList() {
  const { t } = useTranslation('watchlist');
  const search = useSearch({ from: '/shell/watchlist' });
  const { alert: openId, acknowledged, priority, backlog, entryId, startDate, endDate, sortOrder } = search;
  const sortBy = search.sortBy === 'priority' ? search.sortBy : undefined;
  const input = { acknowledged, priority, backlog, entryId, startDate, endDate, sortBy, sortOrder };
  const navigate = useNavigate({ from: '/watchlist' });
  const { change, open, close, clear: clearFilters } = usePane('/watchlist', 'alert', openId);
  const filters = useAlertFilters();
  const columns = useAlertColumns(openId !== undefined);
  const saved = useSavedColumns();
  const pages = usePages({
    queryKey: service.watchlist.getAlerts.queryKey(input),
    load: (page, signal) => api.watchlist.getAlerts.query({ ...input, ...page }, { signal }),
    rows: 'alerts',
    keyOf,
  });
  const { active: listed } = useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: openId,
    onMove: open,
    onOpen: ({ eventId }) => void navigate({ to: '/events', search: { event: eventId } }),
  });
  const opened = useOpened<WatchlistAlert>({
    id: openId,
    listed,
    isPending: pages.isPending,
    queryKey: service.watchlist.getAlert.queryKey({ id: openId ?? '' }),
    load: (id) => api.watchlist.getAlert.query({ id }),
  });
  const active = opened.row;
  const selection = useSelection({ rows: pages.rows, keyOf, activeKey: openId });
  const { clear } = selection;
  const listKey = JSON.stringify(input);
  // biome-ignore lint/correctness/useExhaustiveDependencies: clears the selection when the query of the list changes
  useEffect(() => clear(), [listKey]);
  const { acknowledge, note } = useAcknowledgeKeys(openId, active);
  useSeen();
  const nameOf = useNameOfAlert();
  const isFiltered = filters.some(({ name }) => input[name as keyof typeof input] !== undefined);
  return (
    <>
      <FilterBar page="alerts" filters={filters} values={input} onChange={change}>
        {pages.total !== null && (
          <span className="figures text-muted">{t('alerts.total', { count: pages.total })}</span>
        )}
        <ExportButton title={t('alerts.title')} {...{ columns: saved, pages, filters, values: input }} />
      </FilterBar>
      <BulkAcknowledge input={input} rows={pages.rows} selection={selection} />
      <div className="flex min-h-0 grow flex-col lg:flex-row">
        <div className="flex min-h-0 min-w-0 grow flex-col">
          <DataTable
            label={t('alerts.title')}
            columns={columns}
            pages={pages}
            keyOf={keyOf}
            sort={{ by: sortBy ?? 'createdAt', order: sortOrder ?? 'desc' }}
            onSort={({ by, order }) =>
              change({ sortBy: by === 'createdAt' ? undefined : by, sortOrder: order })
            }
            activeKey={openId ?? null}
            onActivate={open}
            selected={selection.selected}
            nameOf={nameOf}
            onSelect={selection.toggle}
            empty={
              isFiltered ? (
                <NoMatch title={t('alerts.noMatch')} onClear={clearFilters} />
              ) : (
                <Empty icon="watchlist" title={t('alerts.first')}>
                  {t('alerts.firstText')}
                </Empty>
              )
            }
          />
        </div>
        {active && (
          <AlertPane key={active.id} alert={active} area={note} acknowledge={acknowledge} onClose={close} />
        )}
        {opened.error !== null && (
          <AlertAside onClose={close}>
            <NotOpened opened={opened} onClose={close} />
          </AlertAside>
        )}
      </div>
    </>
  );
}

/** The columns of the list and further ones, for a file. */
function useSavedColumns(): readonly ExportColumn<WatchlistAlert>[] {
  const { t } = useTranslation('watchlist');
  return [
    ...useAlertColumns(false),
    { header: t('fields.sensor'), csv: ({ sensorName }) => sensorName },
    { header: t('fields.sightings'), csv: ({ sightings }) => sightings },
    { header: t('fields.lastSeen'), csv: ({ lastSeenAt }) => lastSeenAt },
    { header: t('filters.arrival'), csv: ({ backlog }) => t(backlog ? 'alerts.backlog' : 'alerts.live') },
    { header: t('fields.acknowledgedBy'), csv: ({ acknowledgedBy }) => acknowledgedBy?.name ?? null },
    { header: t('fields.acknowledgedAt'), csv: ({ acknowledgedAt }) => acknowledgedAt },
    { header: t('fields.note'), csv: ({ note }) => note },
  ];
}

/** The command that acknowledges the open alert, the field of its note, and the keys for both. */
function useAcknowledgeKeys(openId: string | undefined, active: WatchlistAlert | undefined) {
  const { t } = useTranslation('watchlist');
  const acknowledge = useAcknowledge(openId);
  const note = useRef<HTMLTextAreaElement>(null);
  const run = () => {
    if (active && !active.acknowledgedAt) void acknowledge.acknowledge(active, note.current?.value ?? '');
  };
  useShortcuts([
    { keys: '1', label: t('alerts.acknowledge'), scope: 'page', run },
    { keys: 'n', label: t('alerts.note'), scope: 'page', run: () => note.current?.focus() },
  ]);
  return { acknowledge, note };
}

/** Names an alert for the label of its checkbox. */
function useNameOfAlert(): (alert: WatchlistAlert) => string {
  const time = useTime();
  return useCallback(
    ({ licensePlateNumber, createdAt }) => `${licensePlateNumber}, ${time.dateTime(createdAt)}`,
    [time],
  );
}

/** Marks all alerts as seen while the list is open in a visible tab. */
function useSeen(): void {
  const hasUnseen = useHasUnseen('alert');
  useEffect(() => {
    const see = () => document.visibilityState === 'visible' && hasUnseen && forgetUnseen('alert');
    see();
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, [hasUnseen]);
}
