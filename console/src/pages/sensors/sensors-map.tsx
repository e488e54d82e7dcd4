import { caseFold } from '@gantry/contract/case-fold';
import type { LocatedSensor } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { PlacesMap, placeLink, SelectedPlace } from '../../shared/places/places-map.tsx';
import { useSensorPoints } from '../../shared/places/points.ts';
import { api, service } from '../../shared/service/service.ts';
import { SensorStatusBadge } from '../../shared/status/badges.tsx';
import { Icon } from '../../ui/icon.tsx';

interface SensorsMapProps {
  readonly filter: {
    readonly type?: string;
    readonly status?: string;
    readonly locationId?: string;
    readonly tag?: string;
    readonly search?: string;
  };
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
}

const NONE: readonly LocatedSensor[] = [];

/** The map of the sensors that match the filter. */
export function SensorsMap({ filter, selectedId, onSelect }: SensorsMapProps) {
  const { t } = useTranslation('sensors');
  const { data = NONE, error, refetch } = useQuery(service.sensors.getAllSensors.queryOptions());
  const { type, status, locationId, tag, search } = filter;
  const tagged = useTagged(tag);
  const shown = useMemo(() => {
    // Matches the same sensors as the service's search, which the list uses.
    const part = caseFold(search?.trim() ?? '');
    return data.filter(
      (sensor) =>
        (!type || sensor.type === type) &&
        (!status || sensor.status === status) &&
        (!locationId || sensor.location?.id === locationId) &&
        (tagged === null || tagged.has(sensor.id)) &&
        (caseFold(sensor.name).includes(part) || caseFold(sensor.deviceId).includes(part)),
    );
  }, [data, type, status, locationId, tagged, search]);
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

/** The ids of the sensors with a tag, which the list of all sensors does not show; null without a tag. */
function useTagged(tag: string | undefined): ReadonlySet<string> | null {
  const { data } = useQuery({
    queryKey: [...service.sensors.getAll.queryKey({ tag }), 'ids'],
    enabled: tag !== undefined,
    queryFn: async ({ signal }) => {
      const found = new Set<string>();
      for (let total = 1; found.size < total; ) {
        const page = await api.sensors.getAll.query({ tag, skip: found.size, take: 100 }, { signal });
        for (const { id } of page.sensors) found.add(id);
        total = page.sensors.length === 0 ? 0 : page.total;
      }
      return found;
    },
  });
  return tag === undefined ? null : (data ?? NOBODY);
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
