import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { FilterValues } from '../filters/filter.ts';
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
import { type ListedSensor, useSensorColumns } from './columns.tsx';
import { CreateSensorDialog } from './create-dialog.tsx';
import { SensorsMap } from './sensors-map.tsx';
import { useSensorFilters } from './use-filters.ts';

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
  const pages = usePages<ListedSensor>({
    queryKey: service.sensors.getAll.queryKey(input),
    load: async (page, signal) => {
      const { sensors, total } = await api.sensors.getAll.query({ ...input, ...page }, { signal });
      return { rows: sensors, total };
    },
    keyOf,
  });
  const switchView = () => change({ view: view ? undefined : 'map' });
  const openForm = () => change({ create: true });
  useShortcuts([
    { keys: 'v', label: t('switchView'), scope: 'page', run: switchView },
    ...(mayManage ? [{ keys: 'n', label: t('create.title'), scope: 'page' as const, run: openForm }] : []),
  ]);
  const isFiltered = filters.some(({ name }) => name in input);
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
      <FilterBar page="sensors" filters={filters} values={input} onChange={change} />
      {view === 'map' ? (
        <SensorsMap filter={input} selectedId={sensor} onSelect={(id) => change({ sensor: id })} />
      ) : (
        <SensorList
          pages={pages}
          activeKey={sensor ?? null}
          sort={{ by: input.sortBy ?? 'createdAt', order: input.sortOrder ?? 'desc' }}
          change={change}
          empty={
            isFiltered ? (
              <Empty
                icon="filter"
                title={t('empty.noMatch')}
                action={<Button onClick={() => void navigate({ search: {} })}>{t('empty.clear')}</Button>}
              />
            ) : (
              <Empty
                icon="sensor"
                title={t('empty.first')}
                action={mayManage && <Button onClick={openForm}>{t('create.title')}</Button>}
              >
                {t('empty.firstText')} <code dir="ltr">npm run simulate</code>
              </Empty>
            )
          }
        />
      )}
      {create && mayManage && <CreateSensorDialog onClose={() => change({ create: undefined })} />}
    </>
  );
}

interface SensorListProps {
  readonly pages: ReturnType<typeof usePages<ListedSensor>>;
  readonly activeKey: string | null;
  readonly sort: { readonly by: string; readonly order: 'asc' | 'desc' };
  readonly change: (values: FilterValues) => void;
  readonly empty: React.ReactNode;
}

function SensorList({ pages, activeKey, sort, change, empty }: SensorListProps) {
  const { t } = useTranslation('sensors');
  const navigate = useNavigate();
  const columns = useSensorColumns();
  const open = ({ id }: ListedSensor) =>
    void navigate({ to: '/sensors/$sensorId', params: { sensorId: id } });
  useCursor({ rows: pages.rows, keyOf, activeKey, onMove: ({ id }) => change({ sensor: id }), onOpen: open });
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
