import type { Location } from '@gantry/contract/locations';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../filters/filter.ts';
import { FilterBar } from '../filters/filter-bar.tsx';
import { api, service } from '../service/service.ts';
import { useMay } from '../session/may.ts';
import { PageHeader } from '../shell/page-header.tsx';
import { useShortcuts } from '../shortcuts/registry.tsx';
import { DataTable } from '../table/data-table.tsx';
import { usePages } from '../table/pages.ts';
import { useCursor } from '../table/use-cursor.ts';
import { Button } from '../ui/button.tsx';
import { Empty } from '../ui/empty.tsx';
import { ViewSwitch } from '../ui/view-switch.tsx';
import { WithDefaultView } from '../views/with-default-view.tsx';
import { useLocationColumns } from './columns.tsx';
import { LocationDialog } from './location-dialog.tsx';
import { LocationsMap } from './locations-map.tsx';

const keyOf = ({ id }: Location): string => id;

/** All locations, as a list or on the map. */
export function LocationsPage() {
  return (
    <WithDefaultView page="locations">
      <Locations />
    </WithDefaultView>
  );
}

function Locations() {
  const { t } = useTranslation('locations');
  const { view, location, create = false, ...input } = useSearch({ from: '/shell/locations' });
  const navigate = useNavigate({ from: '/locations' });
  const mayManage = useMay('manageSensors');
  const change = (values: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const filters = useMemo<readonly Filter[]>(
    () => [{ kind: 'text', name: 'search', label: t('filters.search') }],
    [t],
  );
  const pages = usePages<Location>({
    queryKey: service.locations.getAll.queryKey(input),
    load: async (page, signal) => {
      const { locations, total } = await api.locations.getAll.query({ ...input, ...page }, { signal });
      return { rows: locations, total };
    },
    keyOf,
  });
  const switchView = () => change({ view: view ? undefined : 'map' });
  const openForm = () => change({ create: true });
  useShortcuts([
    { keys: 'v', label: t('switchView'), scope: 'page', run: switchView },
    ...(mayManage ? [{ keys: 'n', label: t('create.title'), scope: 'page' as const, run: openForm }] : []),
  ]);
  return (
    <>
      <PageHeader title={t('title')} note={pages.total !== null && t('total', { count: pages.total })}>
        <ViewSwitch isMap={view === 'map'} onSwitch={switchView} />
        {mayManage && (
          <Button kind="primary" icon="add" onClick={openForm}>
            {t('create.title')}
          </Button>
        )}
      </PageHeader>
      <FilterBar page="locations" filters={filters} values={input} onChange={change} />
      {view === 'map' ? (
        <LocationsMap
          search={input.search}
          selectedId={location}
          onSelect={(id) => change({ location: id })}
        />
      ) : (
        <LocationList
          pages={pages}
          activeKey={location ?? null}
          sort={{ by: input.sortBy ?? 'name', order: input.sortOrder ?? 'asc' }}
          change={change}
          empty={
            input.search === undefined ? (
              <Empty
                icon="location"
                title={t('empty.first')}
                action={mayManage && <Button onClick={openForm}>{t('create.title')}</Button>}
              >
                {t('empty.firstText')}
              </Empty>
            ) : (
              <Empty
                icon="filter"
                title={t('empty.noMatch')}
                action={<Button onClick={() => void navigate({ search: {} })}>{t('empty.clear')}</Button>}
              />
            )
          }
        />
      )}
      {create && mayManage && <LocationDialog onClose={() => change({ create: undefined })} />}
    </>
  );
}

interface LocationListProps {
  readonly pages: ReturnType<typeof usePages<Location>>;
  readonly activeKey: string | null;
  readonly sort: { readonly by: string; readonly order: 'asc' | 'desc' };
  readonly change: (values: FilterValues) => void;
  readonly empty: ReactNode;
}

function LocationList({ pages, activeKey, sort, change, empty }: LocationListProps) {
  const { t } = useTranslation('locations');
  const navigate = useNavigate();
  const columns = useLocationColumns();
  const open = ({ id }: Location) =>
    void navigate({ to: '/locations/$locationId', params: { locationId: id } });
  useCursor({
    rows: pages.rows,
    keyOf,
    activeKey,
    onMove: ({ id }) => change({ location: id }),
    onOpen: open,
  });
  return (
    <DataTable
      label={t('title')}
      columns={columns}
      pages={pages}
      keyOf={keyOf}
      sort={sort}
      onSort={({ by, order }) => change({ sortBy: by, sortOrder: order })}
      activeKey={activeKey}
      onActivate={open}
      empty={empty}
    />
  );
}
