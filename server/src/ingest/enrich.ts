import { hash } from 'node:crypto';
import type { ReportedEvent } from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import type { EventRow } from '../events/event-row.ts';
import { keyedEventId, newEventId, uuidOf } from '../events/id.ts';
import { rankOf, severityOf } from '../events/severity.ts';
import { heldAt } from '../platform/history.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';
import { ANY_TIME, type EventTimes, timeOfEvent } from './event-time.ts';

/**
 * Converts a reported event into a row: determines its id, severity and the name of its place.
 * @param zone IANA time zone for a timestamp without an offset
 * @throws AppError as `timeOfEvent` does
 */
export function enrich(
  event: ReportedEvent,
  sensor: KnownSensor,
  zone: string,
  now: number,
  times: EventTimes = ANY_TIME,
): EventRow {
  const time = timeOfEvent(event.timestamp, zone, now, times);
  const { idempotencyKey } = event;
  const id = idempotencyKey === undefined ? newEventId(time) : keyedEventId(time, sensor.id, idempotencyKey);
  const contentHash = idempotencyKey === undefined ? null : hashContent(event);
  const { eventType, violationType, vehicleSpeed } = event;
  // A late event belongs to the location of the sensor at that time, with the speed limit of that time.
  const { past } = sensor;
  const isLate = past !== undefined && time < past.until && event.timestamp !== undefined;
  const { locationId, locationName, speedLimit } = isLate
    ? (heldAt(past.placements, time) ?? sensor)
    : sensor;
  const severity = event.severity ?? severityOf({ eventType, violationType, vehicleSpeed, speedLimit });
  const plate = event.licensePlateNumber;
  return {
    id,
    time,
    eventType,
    violationType,
    vehicleType: event.vehicleType,
    severity: severity && rankOf(severity),
    sensorId: sensor.id,
    sensorName: sensor.name,
    locationId,
    locationName: locationNameOf(event, { locationName, address: sensor.address }),
    plate,
    plateKey: plate && plateKey(plate),
    vehicleSpeed,
    description: event.description,
    locationJson: event.location && JSON.stringify(event.location),
    metadataJson: event.metadata && JSON.stringify(event.metadata),
    imagesJson: event.images.length > 0 ? JSON.stringify(event.images) : null,
    tagsJson: event.tags.length > 0 ? JSON.stringify(event.tags) : null,
    contentHash,
  };
}

/** The same value with the keys of all objects sorted, so that equal values have the same JSON text. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const entries = Object.entries(value).map(([key, member]): [string, unknown] => [key, inOrder(member)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * 128 bits that identify the content of an event, in the compact form of a UUID. The fields that determine the id
 * (sensor, time, idempotency key) are not included, nor is the API key, which may change.
 */
function hashContent(event: ReportedEvent): string {
  const content = JSON.stringify([
    event.eventType,
    event.description,
    event.location,
    event.images,
    event.tags,
    event.violationType,
    event.licensePlateNumber,
    event.vehicleType,
    event.vehicleSpeed,
    event.severity,
    inOrder(event.metadata),
  ]);
  return uuidOf(hash('sha256', content, 'hex'));
}

/** The place as given by an event and by its sensor. */
interface PlacedEvent {
  readonly location: { readonly address?: string | null | undefined } | null;
}
interface PlacedSensor {
  /** The name of the location to which the sensor is assigned. */
  readonly locationName: string | null;
  /** The address of the sensor's own coordinates. */
  readonly address: string | null;
}

/** The sources of the name of an event's place. The first one that has a value counts. */
export const locationNameSources: readonly {
  readonly says: string;
  readonly of: (event: PlacedEvent, sensor: PlacedSensor) => string | null | undefined;
}[] = [
  { says: '`location.address` of the event', of: ({ location }) => location?.address },
  { says: "the name of the sensor's Location", of: (_, { locationName }) => locationName },
  { says: '`coordinates.address` of the sensor', of: (_, { address }) => address },
];

/** The name of an event's place, fixed at ingestion; null when no source has one. */
export function locationNameOf(event: PlacedEvent, sensor: PlacedSensor): string | null {
  for (const { of } of locationNameSources) {
    const name = of(event, sensor);
    if (name !== null && name !== undefined) return name;
  }
  return null;
}
