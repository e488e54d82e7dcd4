import { caseFold } from '@gantry/contract/case-fold';
import type { FleetSensor } from '@gantry/contract/sensors';
import { sensorStatuses, sensorTypes } from '@gantry/contract/values';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Filter, FilterValues } from '../../shared/filters/filter.ts';
import { containing, locationLookUp, optionOf, tagLookUp } from '../../shared/places/look-ups.ts';
import { corridorFilters, PlacesPage } from '../../shared/places/places-page.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SensorStatusBadge } from '../../shared/status/badges.tsx';
import { FaultBadge } from '../../shared/status/fault-badge.tsx';
import { nameColumn, SecondLine, TIME_WIDTH, textColumn } from '../../shared/table/column.tsx';
import type { Column } from '../../shared/table/data-table.tsx';
import type { ExportColumn } from '../../shared/table/export.ts';
import { ExportButton } from '../../shared/table/export-button.tsx';
import { type Pages, usePages } from '../../shared/table/pages.ts';
import { useSelection } from '../../shared/table/use-selection.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { LinkButton } from '../../ui/links.tsx';
import { later } from '../../ui/load-code.ts';
import { Expiring } from './certificates/expiring.tsx';
import { CreateSensorDialog } from './sensor-dialogs.tsx';
import { SensorsMap } from './sensors-map.tsx';

const useBulkBar = later(async () => (await import('./bulk/bulk-bar.tsx')).BulkBar);

const keyOf = ({ id }: FleetSensor): string => id;
const nameOf = ({ name }: FleetSensor): string => name;

/** All sensors, as a list with the worst first, or on the map. */
export function SensorsPage() {
  return (
    <WithDefaultView page="sensors">
      <Sensors />
    </WithDefaultView>
  );
}

function Sensors() {
  const { t } = useTranslation('sensors');
  const { view, sensor, create = false, kiosk: _, ...search } = useSearch({ from: '/shell/sensors' });
  const navigate = useNavigate({ from: '/sensors' });
  const mayManage = useMay('manageSensors');
  const change = (values: FilterValues) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  const filters = useSensorFilters();
  const input = {
    ...search,
    sortBy: search.sortBy ?? 'worst',
    sortOrder: search.sortOrder ?? 'desc',
  } as const;
  const pages = usePages({
    queryKey: service.sensors.getFleet.queryKey(input),
    load: (page, signal) => api.sensors.getFleet.query({ ...input, ...page }, { signal }),
    rows: 'sensors',
    keyOf,
  });
  const selection = useSelection({
    rows: pages.rows,
    keyOf,
    activeKey: sensor,
    isOffered: mayManage && view !== 'map',
  });
  const { selected, clear } = selection;
  // biome-ignore lint/correctness/useExhaustiveDependencies: cleared when the filters change
  useEffect(() => clear(), [JSON.stringify(search)]);
  const BulkBar = useBulkBar(mayManage && selected.size > 0);
  const openForm = () => change({ create: true });
  return (
    <>
      <PlacesPage
        page="sensors"
        title={t('title')}
        note={pages.total !== null && t('total', { count: pages.total })}
        filters={filters}
        values={{ ...search, view }}
        change={change}
        onClear={() => void navigate({ search: {} })}
        create={mayManage ? t('create.title') : undefined}
        onCreate={openForm}
        imports={mayManage ? 'sensors' : undefined}
        links={
          <>
            <Expiring />
            <LinkButton icon="maintenance" to="/sensors/faults" search={{ open: true }}>
              {t('faults.title')}
            </LinkButton>
          </>
        }
        bar={
          mayManage &&
          BulkBar && <BulkBar input={search} total={pages.total} selected={selected} clear={clear} />
        }
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
          columns: useSensorColumns(search.warrantyEndsWithin !== undefined),
          pages,
          keyOf,
          activeKey: sensor,
          sort: { by: input.sortBy, order: input.sortOrder },
          onSort: ({ by, order }) => change({ sortBy: by, sortOrder: order }),
          onMove: ({ id }) => change({ sensor: id }),
          onOpen: ({ id }) => void navigate({ to: '/sensors/$sensorId', params: { sensorId: id } }),
          ...(mayManage && {
            selected,
            nameOf,
            onSelect: selection.toggle,
            onSelectAll: selection.selectAll,
          }),
        }}
        save={<SaveSensors {...{ pages, filters, values: search }} />}
        map={<SensorsMap filter={search} selectedId={sensor} onSelect={(id) => change({ sensor: id })} />}
      />
      {create && mayManage && <CreateSensorDialog onClose={() => change({ create: undefined })} />}
    </>
  );
}

/** The columns of the list. @param showsWarranty whether the list is of warranties that end */
function useSensorColumns(showsWarranty = false): readonly Column<FleetSensor>[] {
  const { t } = useTranslation(['sensors', 'common', 'events']);
  return useMemo(
    () => [
      {
        id: 'name',
        header: t('fields.name'),
        sortBy: 'name',
        csv: ({ name }) => name,
        cell: ({ id, name, location }) => (
          <>
            <Link
              to="/sensors/$sensorId"
              params={{ sensorId: id }}
              className="one-line block py-0! leading-tight! hover:underline"
            >
              <bdi>{name}</bdi>
            </Link>
            {location && (
              <span className="one-line block text-xs leading-tight! text-muted">
                <bdi>{location.name}</bdi>
              </span>
            )}
          </>
        ),
      },
      {
        id: 'status',
        header: t('fields.status'),
        sortBy: 'worst',
        width: 'min(12rem, 44cqi)',
        csv: ({ status }) => t(`common:sensorStatus.${status}`),
        cell: ({ status, lastHeartbeat, fault }) => (
          <>
            <SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />
            {fault && (
              <SecondLine from="medium">
                <bdi>{fault.text}</bdi>
              </SecondLine>
            )}
          </>
        ),
      },
      {
        id: 'fault',
        header: t('fields.fault'),
        from: 'medium',
        width: '10.5rem',
        csv: ({ fault }) => fault && `${t(`sensors:faults.states.${fault.state}`)}: ${fault.text}`,
        cell: ({ fault, openFaults }) =>
          fault && (
            <>
              <span className="flex items-center gap-1 leading-tight!">
                <FaultBadge state={fault.state} />
                {openFaults > 1 && (
                  <span className="text-sm text-muted">
                    {t('sensors:faults.more', { count: openFaults - 1 })}
                  </span>
                )}
              </span>
              <span className="one-line block text-xs leading-tight! text-muted">
                <bdi>{fault.text}</bdi>
              </span>
            </>
          ),
      },
      {
        id: 'lastEvent',
        header: t('fields.lastEventAt'),
        from: 'medium',
        width: TIME_WIDTH,
        csv: ({ lastEvent }) => lastEvent?.at ?? null,
        cell: ({ lastEvent }) =>
          lastEvent ? (
            <>
              <Moment at={lastEvent.at} className="block leading-tight!" />
              {lastEvent.eventType && (
                <span className="one-line block text-xs leading-tight! text-muted">
                  {t(`events:types.${lastEvent.eventType}`)}
                </span>
              )}
            </>
          ) : (
            <span className="text-muted">{t('noEvent')}</span>
          ),
      },
      ...(showsWarranty
        ? [
            textColumn<FleetSensor>(
              'warranty',
              t('fields.warrantyUntil'),
              ({ warrantyUntil }) => warrantyUntil,
              { width: '8rem', className: 'figures' },
            ),
          ]
        : []),
      nameColumn('type', t('fields.type'), ({ type }) => t(`common:sensorTypes.${type}`), {
        sortBy: 'type',
        width: '8rem',
        wideOnly: true,
      }),
      textColumn('deviceId', t('fields.deviceId'), ({ deviceId }) => deviceId, {
        width: '9rem',
        wideOnly: true,
        className: 'font-mono',
      }),
    ],
    [t, showsWarranty],
  );
}

interface SaveSensorsProps {
  readonly pages: Pages<FleetSensor>;
  readonly filters: readonly Filter[];
  readonly values: FilterValues;
}

/** The button that exports the list of sensors as CSV, with what the list has no room for. */
function SaveSensors({ pages, filters, values }: SaveSensorsProps) {
  const { t } = useTranslation(['sensors', 'common', 'events']);
  const columns: readonly ExportColumn<FleetSensor>[] = [
    ...useSensorColumns(),
    {
      header: t('lastEventType'),
      csv: ({ lastEvent }) => (lastEvent?.eventType ? t(`events:types.${lastEvent.eventType}`) : null),
    },
    { header: t('fields.lastHeartbeat'), csv: ({ lastHeartbeat }) => lastHeartbeat },
    { header: t('fields.location'), csv: ({ location }) => location?.name ?? null },
    { header: t('common:coordinates.latitude'), csv: ({ coordinates }) => coordinates?.latitude ?? null },
    { header: t('common:coordinates.longitude'), csv: ({ coordinates }) => coordinates?.longitude ?? null },
    { header: t('fields.make'), csv: ({ make }) => make },
    { header: t('fields.model'), csv: ({ model }) => model },
    { header: t('fields.serialNumber'), csv: ({ serialNumber }) => serialNumber },
    { header: t('fields.warrantyUntil'), csv: ({ warrantyUntil }) => warrantyUntil },
    { header: t('fields.tags'), csv: ({ tags }) => tags.join('; ') || null },
    { header: t('fields.ipAddress'), csv: ({ ipAddress }) => ipAddress },
    { header: t('fields.eventsPerMin'), csv: ({ eventsPerMin }) => eventsPerMin },
    { header: t('fields.createdAt'), csv: ({ createdAt }) => createdAt },
  ];
  return <ExportButton title={t('title')} {...{ columns, filters, values, pages }} />;
}

/** Finds makes, or models, of sensors by a part of them. */
const modelLookUp = (field: 'make' | 'model') => ({
  find: async (part: string) => {
    const known = (await api.sensors.getModels.query()).flatMap((each) => each[field] ?? []);
    const byKey = new Map(known.map((each) => [caseFold(each), each]));
    return containing([...byKey.values()].map(optionOf), part);
  },
  nameOf: async (name: string) => name,
});

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
      { kind: 'lookUp', name: 'make', label: t('sensors:fields.make'), ...modelLookUp('make') },
      { kind: 'lookUp', name: 'model', label: t('sensors:fields.model'), ...modelLookUp('model') },
      ...corridorFilters(t('sensors:filters.road'), t('sensors:filters.from'), t('sensors:filters.to')),
      {
        kind: 'yesNo',
        name: 'hasFault',
        label: t('sensors:filters.hasFault'),
        yes: t('sensors:filters.withFault'),
        no: t('sensors:filters.withoutFault'),
      },
      {
        kind: 'number',
        name: 'warrantyEndsWithin',
        label: t('sensors:filters.warranty'),
        min: 0,
        max: 3_660,
      },
    ],
    [t],
  );
}
