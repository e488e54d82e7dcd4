import { useQuery } from '@tanstack/react-query';
import { service } from '../service/service.ts';
import type { Place } from './place.ts';

/** What a place is called; its id until that is known. */
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
