import type { LocatedSensor } from '@gantry/contract/sensors';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { MapWithList } from '../map/map-with-list.tsx';
import { Failure } from '../service/failure.tsx';
import { service } from '../service/service.ts';
import { SensorStatusBadge } from '../status/sensor-status.tsx';
import { Icon } from '../ui/icon.tsx';
import { useSensorPoints } from './map-points.ts';

interface SensorsMapProps {
  readonly filter: {
    readonly type?: string;
    readonly status?: string;
    readonly locationId?: string;
    readonly search?: string;
  };
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
}

const NONE: readonly LocatedSensor[] = [];

/** The sensors that meet the filter, on the map. */
export function SensorsMap({ filter, selectedId, onSelect }: SensorsMapProps) {
  const { t } = useTranslation('sensors');
  const { data = NONE, error, refetch } = useQuery(service.sensors.getAllSensors.queryOptions());
  const { type, status, locationId, search } = filter;
  const shown = useMemo(() => {
    const part = search?.trim().toLowerCase() ?? '';
    return data.filter(
      (sensor) =>
        (!type || sensor.type === type) &&
        (!status || sensor.status === status) &&
        (!locationId || sensor.location?.id === locationId) &&
        (sensor.name.toLowerCase().includes(part) || sensor.deviceId.toLowerCase().includes(part)),
    );
  }, [data, type, status, locationId, search]);
  const points = useSensorPoints(shown);
  const selected = data.find(({ id }) => id === selectedId);
  const withoutPlace = shown.length - points.length;
  if (error && data === NONE) {
    return (
      <div className="p-4">
        <Failure error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  return (
    <MapWithList label={t('onMap')} points={points} selectedId={selectedId} onSelect={onSelect}>
      {selected && <SelectedSensor sensor={selected} />}
      {withoutPlace > 0 && (
        <p className="border-b px-3 py-2 text-sm text-muted">{t('withoutPlace', { count: withoutPlace })}</p>
      )}
    </MapWithList>
  );
}

function SelectedSensor({ sensor }: { readonly sensor: LocatedSensor }) {
  const { t } = useTranslation('sensors');
  const { id, name, status, lastHeartbeat, type, location } = sensor;
  return (
    <section className="flex flex-col gap-1 border-b bg-surface p-3" aria-live="polite">
      <h2 className="font-semibold">
        <bdi className="line-clamp-2">{name}</bdi>
      </h2>
      <p className="flex flex-wrap gap-x-3">
        <SensorStatusBadge status={status} lastHeartbeat={lastHeartbeat} />
        <span className="text-muted">{t(`types.${type}`)}</span>
      </p>
      {location && <bdi className="one-line text-muted">{location.name}</bdi>}
      <Link
        to="/sensors/$sensorId"
        params={{ sensorId: id }}
        className="inline-flex min-h-8 items-center gap-1 self-start text-accent underline pointer-coarse:min-h-11"
      >
        {t('open')} <Icon name="next" size={14} />
      </Link>
    </section>
  );
}
