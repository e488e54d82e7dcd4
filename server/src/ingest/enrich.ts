import { hash } from 'node:crypto';
import { DAY_MS } from '@gantry/contract/durations';
import {
  type ObservedSpan,
  type Passage,
  passageFieldNames,
  type ReportedEvent,
} from '@gantry/contract/events';
import { plateKey } from '@gantry/contract/plate';
import { EARLIEST_EVENT, MAX_AHEAD_MS } from '@gantry/contract/time-bounds';
import type { EventRow } from '../events/event-row.ts';
import { keyedEventId, newEventId, uuidOf } from '../events/id.ts';
import { rankOf, severityOf } from '../events/severity.ts';
import { AppError, invalidInput } from '../platform/error.ts';
import { heldAt } from '../platform/history.ts';
import { type Interval, resolveTime } from '../platform/time.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';

/** The rules for accepting the time of an event. */
export interface EventTimes {
  /** Maximum age in days; null accepts everything since the year 2000. */
  readonly oldestDays: number | null;
  /** Whether a refusal may be caused by the service's own clocks. */
  readonly mayBeWrong: (isRefused: (now: number) => boolean) => boolean;
}

/** Accepts everything since the year 2000, with a correct clock. */
const ANY_TIME: EventTimes = { oldestDays: null, mayBeWrong: () => false };

/** The device should send the event again after this time, in seconds: by then the clocks have been compared again. */
const RETRY_SECONDS = 5;

/**
 * The time of an event in Unix milliseconds.
 * @param timestamp as reported by the device; without one, the event happened `now`
 * @param zone IANA time zone for a timestamp without an offset
 * @throws AppError `badRequest` when it is out of bounds; `unavailable` when that may be the fault of the service's
 * clocks
 */
function timeOfEvent(timestamp: string | undefined, zone: string, now: number, times: EventTimes): number {
  if (timestamp === undefined) return now;
  const time = resolveTime(timestamp, zone);
  if (isAhead(time, now)) {
    throw refuseByClock(
      times,
      (other) => isAhead(time, other),
      'The timestamp is more than 5 minutes ahead: set the clock of the device',
    );
  }
  if (time < EARLIEST_EVENT) throw invalidInput('timestamp', 'The timestamp is before the year 2000');
  const { oldestDays } = times;
  if (oldestDays !== null && time < now - oldestDays * DAY_MS) {
    throw refuseByClock(
      times,
      (other) => time < other - oldestDays * DAY_MS,
      `The timestamp is more than ${oldestDays} days old, which is the maximum age that this service accepts`,
    );
  }
  return time;
}

function isAhead(time: number, now: number): boolean {
  return time > now + MAX_AHEAD_MS;
}

/**
 * The time of which a batch contains every passage.
 * @param zone IANA time zone for times without an offset
 * @throws AppError `badRequest` when it ends before it starts, or in the future
 */
export function observedTime({ from, until }: ObservedSpan, zone: string, now: number): Interval {
  const observed = { from: resolveTime(from, zone), until: resolveTime(until, zone) };
  if (observed.from >= observed.until) {
    throw invalidInput('observed.until', 'The end of the observed time must be after its start');
  }
  if (isAhead(observed.until, now)) {
    throw invalidInput(
      'observed.until',
      'The observed time ends more than 5 minutes ahead: end it with the last moment that was observed',
    );
  }
  return observed;
}

function refuseByClock(times: EventTimes, isRefused: (now: number) => boolean, message: string): AppError {
  return times.mayBeWrong(isRefused)
    ? new AppError('unavailable', 'The clocks of the service disagree: send the event again in a moment', {
        retryAfterSeconds: RETRY_SECONDS,
      })
    : invalidInput('timestamp', message);
}

/**
 * Converts a reported event into a row: determines its id, severity and the name of its place.
 * @param zone IANA time zone for a timestamp without an offset
 * @param hashOf what identifies the content of an event with a key, by which a repetition is told from a conflict
 * @throws AppError as `timeOfEvent` does
 */
export function enrich(
  event: ReportedEvent,
  sensor: KnownSensor,
  zone: string,
  now: number,
  times: EventTimes = ANY_TIME,
  hashOf = hashContent,
): EventRow {
  const time = timeOfEvent(event.timestamp, zone, now, times);
  const { idempotencyKey } = event;
  const id = idempotencyKey === undefined ? newEventId(time) : keyedEventId(time, sensor.id, idempotencyKey);
  const contentHash = idempotencyKey === undefined ? null : hashOf(event, id);
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
    passage: passageOf(event),
    contentHash,
  };
}

/** What an event says about how the vehicle passed; null if it says nothing. */
function passageOf(event: ReportedEvent): Passage | null {
  const reported = passageFieldNames.flatMap((name) =>
    event[name] === undefined ? [] : [[name, event[name]]],
  );
  return reported.length > 0 ? Object.fromEntries(reported) : null;
}

/** The same value with the keys of all objects sorted, so that equal values have the same JSON text. */
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) sorted[key] = inOrder((value as typeof sorted)[key]);
  return sorted;
}

/**
 * 128 bits that identify the content of an event, in the compact form of a UUID. The fields that determine the id
 * (sensor, time, idempotency key) are not included, nor is the API key, which may change.
 */
function hashContent(event: ReportedEvent, _id: string): string {
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
    // Only those that are given, so that the content of other events is identified as before there were such fields.
    ...Object.entries(passageOf(event) ?? {}),
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
