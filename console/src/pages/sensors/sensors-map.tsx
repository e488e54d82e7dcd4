import { caseFold } from '@gantry/contract/case-fold';
import type { ListSensorsInput, LocatedSensor } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { PlacesMap, placeLink, SelectedPlace } from '../../shared/places/places-map.tsx';
import { useSensorPoints } from '../../shared/places/points.ts';
import { collectIds } from '../../shared/service/run-bulk.ts';
import { api, service } from '../../shared/service/service.ts';
import { SensorStatusBadge } from '../../shared/status/badges.tsx';
import { Icon } from '../../ui/icon.tsx';

type ListInput = Partial<ListSensorsInput>;

interface SensorsMapProps {
  readonly filter: ListInput;
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
}

const NONE: readonly LocatedSensor[] = [];

/** The map of the sensors that match the filter. */
export function SensorsMap({ filter, selectedId, onSelect }: SensorsMapProps) {
  const { t } = useTranslation('sensors');
  const { data = NONE, error, refetch } = useQuery(service.sensors.getAllSensors.queryOptions());
  const { type, status, locationId, search, sortBy: _, sortOrder: __, ...others } = filter;
  const found = useFound(others);
  const shown = useMemo(() => {
    // Matches the same sensors as the service's search, which the list uses.
    const part = caseFold(search?.trim() ?? '');
    return data.filter(
      (sensor) =>
        (!type || sensor.type === type) &&
        (!status || sensor.status === status) &&
        (!locationId || sensor.location?.id === locationId) &&
        (found === null || found.has(sensor.id)) &&
        (caseFold(sensor.name).includes(part) || caseFold(sensor.deviceId).includes(part)),
    );
  }, [data, type, status, locationId, found, search]);
  const points = useSensorPoints(shown);
  const selected = data.find(({ id }) => id === selectedId);
  const withoutPlace = shown.length - points.length;
  return (
    <PlacesMap
      label={t('onMap')}
      points={points}
      selectedId={selectedId}
      onSelect={onSelect}
      withoutPlace={withoutPlace > 0 && t('withoutPlace', { count: withoutPlace })}
      error={data === NONE ? error : null}
      onRetry={() => void refetch()}
    >
      {selected && <SelectedSensor sensor={selected} />}
    </PlacesMap>
  );
}

/** The ids of the sensors that match filters by what the list of all sensors does not show; null without such filters. */
function useFound(filter: ListInput): ReadonlySet<string> | null {
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  const { data } = useQuery({
    queryKey: [...service.sensors.getFleet.queryKey(filter), 'ids'],
    enabled: isFiltered,
    queryFn: async ({ signal }) => {
      const load = async (skip: number) => {
        const page = await api.sensors.getFleet.query({ ...filter, skip, take: 100 }, { signal });
        return { ids: page.sensors.map(({ id }) => id), total: page.total };
      };
      return new Set(await collectIds(load, 100, signal));
    },
  });
  return isFiltered ? (data ?? NOBODY) : null;
}

const NOBODY: ReadonlySet<string> = new Set();

function SelectedSensor({ sensor }: { readonly sensor: LocatedSensor }) {
  const { t } = useTranslation(['sensors', 'common']);
  const { id, name, status, lastHeartbeat, type, location } = sensor;
  return (
    <SelectedPlace
      name={name}
      link={
        <Link to="/sensors/$sensorId" params={{ sensorId: id }} className={placeLink}>
          {t('open')} <Icon name="next" size={14} />
        </Link>
      }
    >
      <p className="flex flex-wrap gap-x-3">
        <SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />
        <span className="text-muted">{t(`common:sensorTypes.${type}`)}</span>
      </p>
      {location && <bdi className="one-line text-muted">{location.name}</bdi>}
    </SelectedPlace>
  );
}
