import { caseFold } from '@gantry/contract/case-fold';
import type { Event, EventFilter } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { isOfRegion } from '@gantry/contract/plate-regions';

/**
 * Whether an event meets a filter, with the same result as `events.getAll`, as far as the event itself says: the filters by
 * what holds at its place and time (`placeFilters`) are those of `matchesPlace`.
 */
export function matchesFilter(filter: EventFilter): (event: Event) => boolean {
  const { eventType, processed, archived, severities, plateRegion, minConfidence, lane, direction } = filter;
  const { minSpeed = Number.NEGATIVE_INFINITY, maxSpeed = Number.POSITIVE_INFINITY } = filter;
  const bySpeed = filter.minSpeed !== undefined || filter.maxSpeed !== undefined;
  const sensorId = filter.sensorId?.toLowerCase();
  const isPlate = filter.licensePlateNumber === undefined ? null : samePlate(filter.licensePlateNumber);
  const isViolation = filter.violationType === undefined ? null : sameText(filter.violationType);
  const isVehicle = filter.vehicleType === undefined ? null : sameText(filter.vehicleType);
  const isPlace = filter.locationName === undefined ? null : sameText(filter.locationName);
  return (event) =>
    (eventType === undefined || event.eventType === eventType) &&
    (sensorId === undefined || event.sensorId === sensorId) &&
    (severities === undefined || (event.severity !== null && severities.includes(event.severity))) &&
    (plateRegion === undefined || isOfRegion(event.plateRegion, plateRegion)) &&
    (minConfidence === undefined || (event.plateConfidence ?? -1) >= minConfidence) &&
    (lane === undefined || event.lane === lane) &&
    (direction === undefined || event.direction === direction) &&
    (!bySpeed || isBetween(event.vehicleSpeed, minSpeed, maxSpeed)) &&
    (processed === undefined || event.processed === processed) &&
    (archived === undefined || event.archived === archived) &&
    (isPlate === null || isPlate(event.licensePlateNumber)) &&
    (isViolation === null || isViolation(event.violationType)) &&
    (isVehicle === null || isVehicle(event.vehicleType)) &&
    (isPlace === null || isPlace(event.locationName));
}

function isBetween(value: number | null, least: number, most: number): boolean {
  return value !== null && value >= least && value <= most;
}

/** Compares without regard to case, as lists do. */
function sameText(wanted: string): (value: string | null) => boolean {
  const sought = caseFold(wanted);
  return (value) => value !== null && caseFold(value) === sought;
}

function samePlate(wanted: string): (plate: string | null) => boolean {
  const matches = matchesPattern(plateKey(wanted));
  return (plate) => plate !== null && matches(plateKey(plate));
}

/**
 * A plate filter: one exact key or, with `*`, a LIKE pattern (escaped with a backslash). If only the end is given,
 * the pattern applies to the reversed key.
 */
export type PlateFilter = { equals: string } | { like: string } | { backwardsLike: string };

/** @param keyOf the rules by which the stored keys were made */
export function plateFilter(filter: string, keyOf = plateKey): PlateFilter {
  const key = keyOf(filter);
  if (!key.includes('*')) return { equals: key };
  const [, end] = /^\*+([^*]+)$/.exec(key) ?? [];
  if (end !== undefined) return { backwardsLike: `${escaped([...end].reverse().join(''))}%` };
  return { like: escaped(key).replace(/\*+/g, '%') };
}

/** The key of a plate by the rules before version 2, which stored events have until `plate-keys` has passed them. */
export function formerPlateKey(plate: string): string {
  return plate
    .replace(/[\s\p{Pd}\p{Cf}]/gu, '')
    .toLowerCase()
    .toUpperCase()
    .normalize('NFC');
}

/** Whether a plate's key matches a pattern's key, in which `*` stands for any sequence of characters. */
export function matchesPattern(patternKey: string): (key: string) => boolean {
  const [start = '', ...rest] = patternKey.split('*');
  const end = rest.pop();
  if (end === undefined) return (key) => key === start;
  return (key) => {
    if (key.length < start.length + end.length || !key.startsWith(start) || !key.endsWith(end)) return false;
    // Each part between two `*` is matched at the first possible position.
    let at = start.length;
    for (const part of rest) {
      const found = key.indexOf(part, at);
      if (found === -1) return false;
      at = found + part.length;
    }
    return at <= key.length - end.length;
  };
}

function escaped(key: string): string {
  return key.replace(/[\\%_]/g, '\\$&');
}
