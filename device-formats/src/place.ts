import type { ObservedEvent } from './format.ts';
import { arrayOf, objectOf } from './json-values.ts';
import { numberOf } from './observed.ts';

type Place = NonNullable<ObservedEvent['location']>;

/** The first position of a GeoJSON geometry or feature; null when it has no valid position. */
export function placeOfGeoJson(value: unknown, address?: string | null): Place | null {
  const { coordinates, geometry, geometries } = objectOf(value);
  if (geometry !== undefined) return placeOfGeoJson(geometry, address);
  if (geometries !== undefined) return placeOfGeoJson(arrayOf(geometries)[0], address);
  let position: unknown = coordinates;
  while (Array.isArray(position) && Array.isArray(position[0])) position = position[0];
  const [longitude, latitude] = arrayOf(position);
  return placeAt(latitude, longitude, address);
}

/** A place, unless a coordinate is missing or out of range. */
export function placeAt(latitude: unknown, longitude: unknown, address?: string | null): Place | null {
  const isOnEarth =
    typeof latitude === 'number' &&
    typeof longitude === 'number' &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180;
  return isOnEarth ? { latitude, longitude, ...(address && { address }) } : null;
}

/** A position in decimal degrees; null for one that is not set (0, 0) or out of range. */
export function positionOf(latitude: unknown, longitude: unknown): ObservedEvent['location'] {
  const [north, east] = [numberOf(latitude), numberOf(longitude)];
  if (north === null || east === null || (north === 0 && east === 0)) return null;
  return Math.abs(north) > 90 || Math.abs(east) > 180 ? null : { latitude: north, longitude: east };
}
