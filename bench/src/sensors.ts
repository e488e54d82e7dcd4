import type { GantryClient } from '@gantry/client';
import { sensorType } from '@gantry/contract/sensors';
import { addressOf, places } from '@gantry/simulator/src/places.ts';

/** The data of a sensor that ingestion needs. */
export interface Sensor {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly locationId: string | null;
}

/**
 * Registers sensors of all types, each at a location of its own.
 * @param prefix the prefix of their device ids, which must be unique: a kept database contains sensors of earlier runs
 */
export async function registerSensors(
  { api }: GantryClient,
  count: number,
  prefix = 'bench',
): Promise<Sensor[]> {
  const sensors: Sensor[] = [];
  for (let index = 0; index < count; index++) {
    const place = places[index % places.length] ?? places[0];
    const { id: locationId } = await api.locations.create.mutate({
      name: place.name,
      address: addressOf(place),
      coordinates: { latitude: place.latitude, longitude: place.longitude },
    });
    const { id, name, apiKey } = await api.sensors.create.mutate({
      name: `Mast ${index + 1}`,
      deviceId: `${prefix}-${index + 1}`,
      type: sensorType.options[index % sensorType.options.length] ?? 'CAMERA',
      locationId,
    });
    sensors.push({ id, name, apiKey, locationId });
  }
  return sensors;
}
