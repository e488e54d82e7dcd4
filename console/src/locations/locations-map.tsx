import type { Location } from '@gantry/contract/locations';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { MapWithList } from '../map/map-with-list.tsx';
import { Failure } from '../service/failure.tsx';
import { TrafficLevelBadge } from '../status/traffic-level.tsx';
import { Icon } from '../ui/icon.tsx';
import { useAllLocations, useLiveTraffic } from './all-locations.ts';
import { useLocationPoints } from './map-points.ts';

interface LocationsMapProps {
  readonly search: string | undefined;
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
}

const NONE: readonly Location[] = [];

/** The locations that are searched for, on the map with their traffic. */
export function LocationsMap({ search, selectedId, onSelect }: LocationsMapProps) {
  const { t } = useTranslation('locations');
  const { data = NONE, error, refetch } = useAllLocations();
  const shown = useMemo(() => {
    const part = search?.trim().toLowerCase() ?? '';
    return data.filter(
      ({ name, address }) => name.toLowerCase().includes(part) || address.toLowerCase().includes(part),
    );
  }, [data, search]);
  const points = useLocationPoints(shown);
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
      {selected && <SelectedLocation location={selected} />}
      {withoutPlace > 0 && (
        <p className="border-b px-3 py-2 text-sm text-muted">{t('withoutPlace', { count: withoutPlace })}</p>
      )}
    </MapWithList>
  );
}

function SelectedLocation({ location: { id, name, address } }: { readonly location: Location }) {
  const { t } = useTranslation('locations');
  const { data } = useLiveTraffic();
  const traffic = data?.locations.find(({ locationId }) => locationId === id);
  return (
    <section className="flex flex-col gap-1 border-b bg-surface p-3" aria-live="polite">
      <h2 className="font-semibold">
        <bdi className="line-clamp-2">{name}</bdi>
      </h2>
      <bdi className="one-line text-muted">{address}</bdi>
      {traffic && (
        <p className="flex flex-wrap gap-x-3">
          <TrafficLevelBadge level={traffic.level} />
          {traffic.meanSpeed !== null && (
            <span className="figures">{t('speed', { speed: Math.round(traffic.meanSpeed) })}</span>
          )}
        </p>
      )}
      <Link
        to="/locations/$locationId"
        params={{ locationId: id }}
        className="inline-flex min-h-8 items-center gap-1 self-start text-accent underline pointer-coarse:min-h-11"
      >
        {t('open')} <Icon name="next" size={14} />
      </Link>
    </section>
  );
}
