import { caseFold } from '@gantry/contract/case-fold';
import type { Event, EventFilter } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { matchesPattern } from './plate.ts';

/** Whether an event meets a filter, with the same result as `events.getAll`. */
export function matchesFilter(filter: EventFilter): (event: Event) => boolean {
  const { eventType, processed, archived } = filter;
  const sensorId = filter.sensorId?.toLowerCase();
  const isPlate = filter.licensePlateNumber === undefined ? null : samePlate(filter.licensePlateNumber);
  const isViolation = filter.violationType === undefined ? null : sameText(filter.violationType);
  const isVehicle = filter.vehicleType === undefined ? null : sameText(filter.vehicleType);
  const isPlace = filter.locationName === undefined ? null : sameText(filter.locationName);
  return (event) =>
    (eventType === undefined || event.eventType === eventType) &&
    (sensorId === undefined || event.sensorId === sensorId) &&
    (processed === undefined || event.processed === processed) &&
    (archived === undefined || event.archived === archived) &&
    (isPlate === null || isPlate(event.licensePlateNumber)) &&
    (isViolation === null || isViolation(event.violationType)) &&
    (isVehicle === null || isVehicle(event.vehicleType)) &&
    (isPlace === null || isPlace(event.locationName));
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
