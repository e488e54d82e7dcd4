import type { ListedSensor } from '@gantry/contract/sensors';
import { sensorStatuses, sensorTypes } from '@gantry/contract/values';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { locationLookUp, tagLookUp } from '../../shared/places/look-ups.ts';
import { PlacesPage } from '../../shared/places/places-page.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SensorStatusBadge } from '../../shared/status/badges.tsx';
import { nameColumn, textColumn } from '../../shared/table/column.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { CreateSensorDialog } from './sensor-dialogs.tsx';
import { SensorsMap } from './sensors-map.tsx';

const keyOf = ({ id }: ListedSensor): string => id;

/** All sensors, as a list or on the map. */
export function SensorsPage() {
  return (
    <WithDefaultView page="sensors">
      <Sensors />
    </WithDefaultView>
  );
}

function Sensors() {
  const { t } = useTranslation('sensors');
  const { view, sensor, create = false, ...input } = useSearch({ from: '/shell/sensors' });
  const navigate = useNavigate({ from: '/sensors' });
  const mayManage = useMay('manageSensors');
  const change = (values: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const filters = useSensorFilters();
  const pages = usePages({
    queryKey: service.sensors.getAll.queryKey(input),
    load: (page, signal) => api.sensors.getAll.query({ ...input, ...page }, { signal }),
    rows: 'sensors',
    keyOf,
  });
  const openForm = () => change({ create: true });
  return (
    <>
      <PlacesPage
        page="sensors"
        title={t('title')}
        note={pages.total !== null && t('total', { count: pages.total })}
        filters={filters}
        values={{ ...input, view }}
        change={change}
        onClear={() => void navigate({ search: {} })}
        create={mayManage ? t('create.title') : undefined}
        onCreate={openForm}
        imports={mayManage ? 'sensors' : undefined}
        noMatch={t('empty.noMatch')}
        first={{
          icon: 'sensor',
          title: t('empty.first'),
          text: (
            <>
              {t('empty.firstText')} <code dir="ltr">npm run simulate</code>
            </>
          ),
        }}
        list={{
          label: t('title'),
          columns: useSensorColumns(),
          pages,
          keyOf,
          activeKey: sensor,
          sort: { by: input.sortBy ?? 'createdAt', order: input.sortOrder ?? 'desc' },
          onSort: ({ by, order }) => change({ sortBy: by, sortOrder: order }),
          onMove: ({ id }) => change({ sensor: id }),
          onOpen: ({ id }) => void navigate({ to: '/sensors/$sensorId', params: { sensorId: id } }),
        }}
        save={<SaveSensors {...{ pages, filters, values: input }} />}
        map={<SensorsMap filter={input} selectedId={sensor} onSelect={(id) => change({ sensor: id })} />}
      />
      {create && mayManage && <CreateSensorDialog onClose={() => change({ create: undefined })} />}
    </>
  );
}

function useSensorColumns(): readonly Column<ListedSensor>[] {
  const { t } = useTranslation(['sensors', 'common']);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('fields.name'),
        sortBy: 'name',
        csv: ({ name }) => name,
        cell: ({ id, name }) => (
          <Link to="/sensors/$sensorId" params={{ sensorId: id }} className="hover:underline">
            <bdi>{name}</bdi>
          </Link>
        ),
      },
      {
        id: 'status',
        header: t('fields.status'),
        sortBy: 'status',
        width: 'min(13rem, 44cqi)',
        csv: ({ status }) => t(`common:sensorStatus.${status}`),
        cell: ({ status, lastHeartbeat }) => (
          <SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />
        ),
      },
      nameColumn('type', t('fields.type'), ({ type }) => t(`common:sensorTypes.${type}`), {
        sortBy: 'type',
        width: '9rem',
        wideOnly: true,
      }),
      textColumn('deviceId', t('fields.deviceId'), ({ deviceId }) => deviceId, {
        width: '10rem',
        wideOnly: true,
        className: 'font-mono',
      }),
      {
        id: 'lastHeartbeat',
        header: t('fields.lastHeartbeat'),
        sortBy: 'lastHeartbeat',
        width: '11.5rem',
        wideOnly: true,
        csv: ({ lastHeartbeat }) => lastHeartbeat,
        cell: ({ lastHeartbeat }) =>
          lastHeartbeat ? (
            <Moment at={lastHeartbeat} />
          ) : (
            <span className="text-muted">{t('neverHeard')}</span>
          ),
      },
    ],
    [t],
  );
}

/** How long the locations of all sensors are reused, in milliseconds: an export loads page after page. */
const PLACES_MS = 60_000;

interface SaveSensorsProps {
  readonly pages: Pages<ListedSensor>;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
}

type PlacedSensor = ListedSensor & { readonly locationName: string | null };

/** The button that exports the list of sensors as CSV, with the location of each. */
function SaveSensors({ pages, filters, values }: SaveSensorsProps) {
  const { t } = useTranslation(['sensors', 'common']);
  const client = useQueryClient();
  const columns: readonly ExportColumn<PlacedSensor>[] = [
    ...useSensorColumns(),
    { header: t('fields.location'), csv: ({ locationName }) => locationName },
    { header: t('common:coordinates.latitude'), csv: ({ coordinates }) => coordinates?.latitude ?? null },
    { header: t('common:coordinates.longitude'), csv: ({ coordinates }) => coordinates?.longitude ?? null },
    { header: t('fields.ipAddress'), csv: ({ ipAddress }) => ipAddress },
    { header: t('fields.eventsPerMin'), csv: ({ eventsPerMin }) => eventsPerMin },
    { header: t('fields.createdAt'), csv: ({ createdAt }) => createdAt },
  ];
  const load: Pages<PlacedSensor>['load'] = async (page, signal) => {
    const { rows, total } = await pages.load(page, signal);
    const placed = await client.fetchQuery({
      ...service.sensors.getAllSensors.queryOptions(),
      staleTime: PLACES_MS,
    });
    const nameById = new Map(placed.map(({ id, location }) => [id, location?.name ?? null]));
    return { rows: rows.map((row) => ({ ...row, locationName: nameById.get(row.id) ?? null })), total };
  };
  return <ExportButton title={t('title')} {...{ columns, filters, values }} pages={{ ...pages, load }} />;
}

/** The filters of the list and the map of sensors: all those of `sensors.getAll`. */
function useSensorFilters(): readonly Filter[] {
  const { t } = useTranslation(['sensors', 'common']);
  return useMemo(
    () => [
      { kind: 'text', name: 'search', label: t('sensors:filters.search') },
      {
        kind: 'choice',
        name: 'status',
        label: t('sensors:fields.status'),
        options: sensorStatuses.map((value) => ({ value, label: t(`common:sensorStatus.${value}`) })),
      },
      {
        kind: 'choice',
        name: 'type',
        label: t('sensors:fields.type'),
        options: sensorTypes.map((value) => ({ value, label: t(`common:sensorTypes.${value}`) })),
      },
      { kind: 'lookUp', name: 'locationId', label: t('sensors:fields.location'), ...locationLookUp },
      {
        kind: 'lookUp',
        name: 'tag',
        label: t('sensors:fields.tag'),
        ...tagLookUp,
      },
    ],
    [t],
  );
}
