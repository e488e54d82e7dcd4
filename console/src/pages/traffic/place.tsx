import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { service } from '../../shared/service/service.ts';
import type { Place } from './comparison.ts';

/** The name of a location, as a link to its traffic. The other query parameters, such as the days, are kept. */
export function PlaceLink({ id, name }: { readonly id: string; readonly name: string }) {
  return (
    <Link
      from="/traffic"
      to="/traffic"
      search={(all) => ({ ...all, locationId: id })}
      className="hover:underline"
    >
      <bdi>{name}</bdi>
    </Link>
  );
}

/** The name of a place; its id until the name is loaded, and an empty string without a place. */
export function usePlaceName(place: Place | null): string {
  const locationId = place && 'locationId' in place ? place.locationId : '';
  const sensorId = place && 'sensorId' in place ? place.sensorId : '';
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
  return (locationId ? location.data?.name : sensor.data?.name) ?? (locationId || sensorId);
}
