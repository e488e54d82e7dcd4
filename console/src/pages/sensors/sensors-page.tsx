import type { ListedSensor } from '@gantry/contract/sensors';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { FilterValues } from '../../shared/filters/filter.ts';
import { PlacesPage } from '../../shared/places/places-page.tsx';
import { api, service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/may.ts';
import { usePages } from '../../shared/table/pages.ts';
import { WithDefaultView } from '../../shared/views/with-default-view.tsx';
import { useSensorColumns } from './columns.tsx';
import { CreateSensorDialog } from './create-dialog.tsx';
import { SaveSensors } from './save-sensors.tsx';
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
