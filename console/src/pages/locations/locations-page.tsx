import type { Location } from '@gantry/contract/locations';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { corridorFilters, PlacesPage } from '../../shared/places/places-page.tsx';
import { useLiveTraffic } from '../../shared/places/points.ts';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { TrafficLevelBadge } from '../../shared/status/badges.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { figureColumn, textColumn } from '../../shared/table/column.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { usePages } from '../../shared/table/pages.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
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
  const { t } = useTranslation(['locations', 'common']);
  const { view, location, create = false, ...input } = useSearch({ from: '/shell/locations' });
  const navigate = useNavigate({ from: '/locations' });
  const mayManage = useMay('manageSensors');
  const change = (values: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const filters = useMemo<readonly Filter[]>(
    () => [
      { kind: 'text', name: 'search', label: t('filters.search') },
      ...corridorFilters(t('fields.road'), t('filters.from'), t('filters.to')),
    ],
    [t],
  );
  const pages = usePages({
    queryKey: service.locations.getAll.queryKey(input),
    load: (page, signal) => api.locations.getAll.query({ ...input, ...page }, { signal }),
    rows: 'locations',
    keyOf,
  });
  const columns = useLocationColumns();
  const saved: readonly ExportColumn<Location>[] = [
    ...columns,
    { header: t('common:coordinates.latitude'), csv: ({ coordinates }) => coordinates?.latitude ?? null },
    { header: t('common:coordinates.longitude'), csv: ({ coordinates }) => coordinates?.longitude ?? null },
    { header: t('fields.road'), csv: ({ road }) => road },
    { header: t('fields.kilometre'), csv: ({ kilometre }) => kilometre },
    { header: t('fields.direction'), csv: ({ direction }) => direction },
    { header: t('fields.lanes'), csv: ({ lanes }) => lanes },
    { header: t('fields.description'), csv: ({ description }) => description },
    { header: t('fields.createdAt'), csv: ({ createdAt }) => createdAt },
  ];
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
        imports={mayManage ? 'locations' : undefined}
        noMatch={t('empty.noMatch')}
        first={{ icon: 'location', title: t('empty.first'), text: t('empty.firstText') }}
        list={{
          label: t('title'),
          columns,
          pages,
          keyOf,
          activeKey: location,
          sort: { by: input.sortBy ?? 'name', order: input.sortOrder ?? 'asc' },
          onSort: ({ by, order }) => change({ sortBy: by, sortOrder: order }),
          onMove: ({ id }) => change({ location: id }),
          onOpen: ({ id }) => void navigate({ to: '/locations/$locationId', params: { locationId: id } }),
        }}
        save={<ExportButton title={t('title')} {...{ columns: saved, pages, filters, values: input }} />}
        map={
          <LocationsMap filter={input} selectedId={location} onSelect={(id) => change({ location: id })} />
        }
      />
      {create && mayManage && <LocationDialog onClose={() => change({ create: undefined })} />}
    </>
  );
}

function useLocationColumns(): readonly Column<Location>[] {
  const { t } = useTranslation('locations');
  const speedText = useSpeedText();
  const { data } = useLiveTraffic();
  return useMemo(() => {
    const now = new Map(data?.locations.map((traffic) => [traffic.locationId, traffic]));
    return [
      {
        id: 'name',
        header: t('fields.name'),
        sortBy: 'name',
        csv: ({ name }) => name,
        cell: ({ id, name }) => (
          <Link to="/locations/$locationId" params={{ locationId: id }} className="hover:underline">
            <bdi>{name}</bdi>
          </Link>
        ),
      },
      {
        id: 'level',
        header: t('fields.level'),
        width: 'min(9rem, 30cqi)',
        cell: ({ id }) => {
          const traffic = now.get(id);
          return traffic && <TrafficLevelBadge level={traffic.level} volume={traffic.volume} />;
        },
      },
      {
        id: 'speed',
        header: t('fields.meanSpeed'),
        width: '7rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ id }) => {
          const traffic = now.get(id);
          return traffic && traffic.meanSpeed !== null && speedText(traffic.meanSpeed, 0, traffic.units);
        },
      },
      {
        id: 'limit',
        header: t('fields.limit'),
        csvHeader: t('fields.speedLimit'),
        csv: ({ speedLimit }) => speedLimit,
        width: '7rem',
        isFigure: true,
        wideOnly: true,
        cell: ({ id, speedLimit }) => speedLimit !== null && speedText(speedLimit, 0, now.get(id)?.units),
      },
      figureColumn('sensors', t('fields.sensorCount'), ({ sensorCount }) => sensorCount, {
        width: '8.5rem',
        notNarrow: true,
      }),
      textColumn('address', t('fields.address'), ({ address }) => address, {
        wideOnly: true,
        className: 'text-muted',
      }),
    ];
  }, [t, data, speedText]);
}
