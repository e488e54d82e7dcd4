import type { Location } from '@gantry/contract/locations';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../filters/filter.ts';
import { PlacesPage } from '../places/places-page.tsx';
import { api, service } from '../service/service.ts';
import { useMay } from '../session/may.ts';
import { usePages } from '../table/pages.ts';
import { useLocationColumns } from './columns.tsx';
import { LocationDialog } from './location-dialog.tsx';
import { LocationsMap } from './locations-map.tsx';

const keyOf = ({ id }: Location): string => id;

/** All locations, as a list or on the map. */
export function LocationsPage() {
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
  const openForm = () => change({ create: true });
  return (
    <>
      <PlacesPage
        page="locations"
        title={t('title')}
        note={pages.total !== null && t('total', { count: pages.total })}
        filters={filters}
        values={{ ...input, view }}
        change={change}
        onClear={() => void navigate({ search: {} })}
        create={mayManage ? t('create.title') : undefined}
        onCreate={openForm}
        noMatch={t('empty.noMatch')}
        first={{ icon: 'location', title: t('empty.first'), text: t('empty.firstText') }}
        list={{
          label: t('title'),
          columns: useLocationColumns(),
          pages,
          keyOf,
          activeKey: location,
          sort: { by: input.sortBy ?? 'name', order: input.sortOrder ?? 'asc' },
          onSort: ({ by, order }) => change({ sortBy: by, sortOrder: order }),
          onMove: ({ id }) => change({ location: id }),
          onOpen: ({ id }) => void navigate({ to: '/locations/$locationId', params: { locationId: id } }),
        }}
        map={
          <LocationsMap
            search={input.search}
            selectedId={location}
            onSelect={(id) => change({ location: id })}
          />
        }
      />
      {create && mayManage && <LocationDialog onClose={() => change({ create: undefined })} />}
    </>
  );
}
