import type { ListedPoint } from '@gantry/contract/points';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { LookUp } from '../../shared/form/look-up.tsx';
import { api, service } from '../../shared/service/service.ts';
import { idsOf, NO_PLACE, type Place } from './comparison.ts';

/** The name of a location, as a link to its traffic. The other query parameters, such as the days, are kept. */
export function PlaceLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <Link
      from="/traffic"
      to="/traffic"
      search={(all) => ({ ...all, ...NO_PLACE, locationId: id })}
      className="hover:underline"
    >
      <bdi>{name}</bdi>
    </Link>
  );
}

/** The name of a place; its id until the name is loaded, and an empty string without a place. */
export function usePlaceName(place: Place | null): string {
  const { locationId = '', pointId = '', sensorId = '' } = place ? idsOf(place) : {};
  const options = { retry: false, staleTime: 300_000 };
  const location = useQuery({
    ...service.locations.getById.queryOptions({ id: locationId }),
    ...options,
    enabled: locationId !== '',
  });
  const sensor = useQuery({
    ...service.sensors.getById.queryOptions({ id: sensorId }),
    ...options,
    enabled: sensorId !== '',
  });
  const point = useQuery({
    ...service.points.list.queryOptions({ pointId }),
    ...options,
    enabled: pointId !== '',
  });
  const [found] = point.data?.points ?? [];
  const name = locationId ? location.data?.name : pointId ? found && pointName(found) : sensor.data?.name;
  return name ?? (locationId || pointId || sensorId);
}

/** A measuring point by its location and its own name, such as a direction. */
function pointName({ name, locationName }: Pick<ListedPoint, 'name' | 'locationName'>): string {
  return name === locationName ? name : `${locationName} · ${name}`;
}

interface PlaceLookUpProps {
  readonly label: string;
  readonly place: Place | null;
  readonly onChoose: (place: Place) => void;
}

/** The maximum number of locations, of measuring points, and of sensors that are offered at once. */
const TAKE = 20;

/** A field that finds a location, a measuring point or a sensor by part of its name. */
export function PlaceLookUp({ label, place, onChoose }: PlaceLookUpProps) {
  const { t } = useTranslation('traffic');
  const name = usePlaceName(place);
  const find = async (search: string) => {
    const page = { search, take: TAKE, sortBy: 'name', sortOrder: 'asc' } as const;
    // The request for locations fails if the feature is switched off; sensors are always available.
    const [locations, points, sensors] = await Promise.all([
      api.locations.getAll.query({ search, take: TAKE }).then(
        (all) => all.locations,
        () => [],
      ),
      api.points.list.query({ search, take: TAKE }).then(
        (all) => all.points,
        () => [],
      ),
      api.sensors.getAll.query(page).then((all) => all.sensors),
    ]);
    return [
      ...locations.map((one) => ({ value: `locationId ${one.id}`, label: one.name })),
      ...points.map((one) => ({
        value: `pointId ${one.id}`,
        label: t('place.point', { name: pointName(one) }),
      })),
      ...sensors.map((one) => ({
        value: `sensorId ${one.id}`,
        label: t('place.sensor', { name: one.name }),
      })),
    ];
  };
  const choose = (value: string) => {
    const [kind, id = ''] = value.split(' ');
    onChoose(
      kind === 'locationId' ? { locationId: id } : kind === 'pointId' ? { pointId: id } : { sensorId: id },
    );
  };
  return <LookUp key={name} label={label} find={find} onChoose={choose} chosen={name} />;
}
