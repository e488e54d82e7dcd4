import type { WatchlistEntry } from '@gantry/contract/watchlist';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { DataTable } from '../../shared/table/data-table.tsx';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { NotOpened, useOpened } from '../../shared/table/opened.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { useCursor } from '../../shared/table/use-cursor.ts';
import { usePane } from '../../shared/url/use-pane.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Empty, NoMatch } from '../../ui/empty.tsx';
import { useShortcuts } from '../../ui/shortcuts.tsx';
import { usePlateColumns } from './columns.tsx';
import { PlateDialog } from './plate-dialog.tsx';
import { usePlateFilters } from './use-filters.ts';

const keyOf = ({ id }: WatchlistEntry): string => id;

/** The list of watched plates, and the form for one of them. */
export function Plates() {
  return (
    <WithDefaultView page="plates">
      <PlateList />
    </WithDefaultView>
  );
}

function PlateList() {
  const { t } = useTranslation('watchlist');
  const seesPlates = useSeesPlates();
  const mayManage = useMay('manageWatchlist') && seesPlates;
  const { plate, search, priority, active, sortBy, sortOrder } = useSearch({ from: '/shell/watchlist' });
  const input = { search, priority, active, sortBy, sortOrder };
  const navigate = useNavigate({ from: '/watchlist' });
  const { change, close } = usePane('/watchlist', 'plate', plate);
  const filters = usePlateFilters();
  const columns = usePlateColumns();
  const pages = usePages({
    queryKey: service.watchlist.getAll.queryKey(input),
    load: (page, signal) => api.watchlist.getAll.query({ ...input, ...page }, { signal }),
    rows: 'entries',
    keyOf,
  });
  const saved: readonly ExportColumn<WatchlistEntry>[] = [
    ...columns,
    { header: t('fields.validFrom'), csv: ({ validFrom }) => validFrom },
    { header: t('fields.validUntil'), csv: ({ validUntil }) => validUntil },
  ];
  const openDialog = (id: string) => change({ plate: id });
  // The open dialog captures the keyboard, so the URL parameter can serve as the cursor of the list, too.
  const { active: listed } = useCursor({
    rows: pages.rows,
    keyOf,
    activeKey: plate,
    onMove: ({ id }) => openDialog(id),
  });
  const isNew = plate === 'new';
  const opened = useOpened<WatchlistEntry>({
    id: isNew ? undefined : plate,
    listed,
    isPending: pages.isPending,
    queryKey: service.watchlist.getById.queryKey({ id: plate ?? '' }),
    load: (id) => api.watchlist.getById.query({ id }),
  });
  const open = opened.row;
  const create = () => openDialog('new');
  useShortcuts(mayManage ? [{ keys: 'c', label: t('plates.new'), scope: 'page', run: create }] : []);
  const isFiltered = filters.some(({ name }) => input[name as keyof typeof input] !== undefined);
  return (
    <>
      <FilterBar page="plates" filters={filters} values={input} onChange={change}>
        {pages.total !== null && (
          <span className="figures text-muted">{t('plates.total', { count: pages.total })}</span>
        )}
        <ExportButton title={t('plates.title')} {...{ columns: saved, pages, filters, values: input }} />
        {mayManage && (
          <Button kind="primary" icon="add" onClick={create}>
            {t('plates.new')}
          </Button>
        )}
      </FilterBar>
      <DataTable
        label={t('plates.title')}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        sort={{ by: sortBy ?? 'createdAt', order: sortOrder ?? 'desc' }}
        onSort={({ by, order }) => change({ sortBy: by, sortOrder: order })}
        activeKey={plate ?? null}
        onActivate={({ id }) => openDialog(id)}
        empty={
          isFiltered ? (
            <NoMatch
              title={t('plates.noMatch')}
              onClear={() => void navigate({ search: { part: 'plates' } })}
            />
          ) : (
            <Empty
              icon="watchlist"
              title={t('plates.first')}
              action={mayManage && <Button onClick={create}>{t('plates.new')}</Button>}
            >
              {t('plates.firstText')}
            </Empty>
          )
        }
      />
      {(open || (isNew && mayManage)) && (
        <PlateDialog key={open?.id ?? 'new'} entry={open ?? null} onClose={close} />
      )}
      {opened.error !== null && (
        <Dialog title={t('plates.title')} open onClose={close}>
          <NotOpened opened={opened} onClose={close} />
        </Dialog>
      )}
    </>
  );
}
