import { caseFold } from '@gantry/contract/case-fold';
import type { Location } from '@gantry/contract/locations';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { PlacesMap, placeLink, SelectedPlace } from '../../shared/places/places-map.tsx';
import { useAllLocations, useLiveTraffic, useLocationPoints } from '../../shared/places/points.ts';
import { TrafficLevelBadge } from '../../shared/status/badges.tsx';
import { useSpeedText } from '../../shared/status/speed.ts';
import { Icon } from '../../ui/icon.tsx';

interface LocationsMapProps {
  readonly filter: {
    readonly search?: string;
    readonly road?: string;
    readonly fromKilometre?: number;
    readonly toKilometre?: number;
  };
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string) => void;
}

const NONE: readonly Location[] = [];

/** The map of the locations that match the search, with their traffic. */
export function LocationsMap({ filter, selectedId, onSelect }: LocationsMapProps) {
  const { t } = useTranslation(['locations', 'common']);
  const { data = NONE, error, refetch } = useAllLocations();
  const { search, road, fromKilometre, toKilometre } = filter;
  const shown = useMemo(() => {
    // Matches the same locations as the service's search, which the list uses.
    const part = caseFold(search?.trim() ?? '');
    const wanted = road === undefined ? null : caseFold(road.trim());
    return data.filter(
      (each) =>
        (caseFold(each.name).includes(part) || caseFold(each.address).includes(part)) &&
        (wanted === null || (each.road !== null && caseFold(each.road) === wanted)) &&
        (fromKilometre === undefined || (each.kilometre !== null && each.kilometre >= fromKilometre)) &&
        (toKilometre === undefined || (each.kilometre !== null && each.kilometre <= toKilometre)),
    );
  }, [data, search, road, fromKilometre, toKilometre]);
  const points = useLocationPoints(shown);
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
      {selected && <SelectedLocation location={selected} />}
    </PlacesMap>
  );
}

function SelectedLocation({ location: { id, name, address } }: { readonly location: Location }) {
  const { t } = useTranslation('locations');
  const speedText = useSpeedText();
  const { data } = useLiveTraffic();
  const traffic = data?.locations.find(({ locationId }) => locationId === id);
  return (
    <SelectedPlace
      name={name}
      link={
        <Link to="/locations/$locationId" params={{ locationId: id }} className={placeLink}>
          {t('open')} <Icon name="next" size={14} />
        </Link>
      }
    >
      <bdi className="one-line text-muted">{address}</bdi>
      {traffic && (
        <p className="flex flex-wrap gap-x-3">
          <TrafficLevelBadge level={traffic.level} volume={traffic.volume} />
          {traffic.meanSpeed !== null && (
            <span className="figures">{speedText(traffic.meanSpeed, 0, traffic.units)}</span>
          )}
        </p>
      )}
    </SelectedPlace>
  );
}
