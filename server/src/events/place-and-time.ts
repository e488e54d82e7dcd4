import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Event, EventFilter } from '@gantry/contract/events';
import { type History, heldAt } from '../platform/history.ts';
import { type Interval, offsetsOf } from '../platform/time.ts';

// What holds at the place and time of an event, by which filters find events.

/** The speed limits (km/h) of locations over time, by id; null for none. */
export type Limits = ReadonlyMap<string, History<number | null>>;

/** The sensors and locations that a filter of events refers to; null for those that it does not restrict. */
export interface Places {
  /** The sensors with any of the tags. */
  readonly sensorIds: readonly string[] | null;
  /** The locations on the road, between the positions. */
  readonly locationIds: readonly string[] | null;
  /** The limits of all locations. */
  readonly limits: Limits | null;
}

/** Hours of the day and days of the week (0 = Sunday); undefined for all. */
export interface WantedHours {
  readonly hours?: readonly number[] | undefined;
  readonly weekdays?: readonly number[] | undefined;
}

/** 1 January 1970 was a Thursday. */
const FIRST_WEEKDAY = 4;

/** Whether clocks in the zone show one of the hours on one of the days at a time (Unix milliseconds). */
export function isAtHours({ hours, weekdays }: WantedHours, zone: string): (time: number) => boolean {
  if (hours === undefined && weekdays === undefined) return () => true;
  const offsetAt = offsetsOf(zone);
  return (time) => {
    const local = time + offsetAt(time) * MINUTE_MS;
    const day = Math.floor(local / DAY_MS);
    return (
      (hours === undefined || hours.includes(Math.floor((local - day * DAY_MS) / HOUR_MS))) &&
      (weekdays === undefined || weekdays.includes((((day + FIRST_WEEKDAY) % 7) + 7) % 7))
    );
  };
}

/**
 * The parts of an interval, in order, in which clocks in the zone show one of the hours on one of the days. An hour that
 * the clocks repeat is in them twice, one that they skip is not.
 * @param interval with an end
 */
export function spansAtHours({ from, until }: Interval, wanted: WantedHours, zone: string): Interval[] {
  const offsetAt = offsetsOf(zone);
  const isWanted = isAtHours(wanted, zone);
  const spans: { from: number; until: number }[] = [];
  for (let at = from; at < until; ) {
    const next = Math.min(until, nextHour(at, offsetAt));
    const last = spans.at(-1);
    if (isWanted(at)) {
      if (last?.until === at) last.until = next;
      else spans.push({ from: at, until: next });
    }
    at = next;
  }
  return spans;
}

/** When clocks next show a full hour, or are changed. Both may happen at a time that is no full hour in UTC. */
function nextHour(at: number, offsetAt: (time: number) => number): number {
  const offset = offsetAt(at);
  const local = at + offset * MINUTE_MS;
  let [same, other] = [at, at + (Math.floor(local / HOUR_MS) + 1) * HOUR_MS - local];
  if (offsetAt(other - 1) === offset) return other;
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

/**
 * Whether an event meets the filters by what holds at its place and time (`placeFilters`), with the same result as
 * `events.getAll`.
 * @param zone of the hours of the day and the days of the week
 */
export function matchesPlace(
  filter: EventFilter,
  places: Places,
  zone: string,
  locationIdOf: (event: Event) => string | null,
): (event: Event) => boolean {
  const { minExcess } = filter;
  const sensorIds = places.sensorIds && new Set<string | null>(places.sensorIds);
  const locationIds = places.locationIds && new Set<string | null>(places.locationIds);
  const isAt = isAtHours(filter, zone);
  const isAbove = (event: Event, excess: number): boolean => {
    const history = places.limits?.get(locationIdOf(event) ?? '') ?? [];
    const limit = heldAt(history, event.timestamp.getTime()) ?? null;
    return event.vehicleSpeed !== null && limit !== null && event.vehicleSpeed >= limit + excess;
  };
  return (event) =>
    (sensorIds === null || sensorIds.has(event.sensorId)) &&
    (locationIds === null || locationIds.has(locationIdOf(event))) &&
    (minExcess === undefined || isAbove(event, minExcess)) &&
    isAt(event.timestamp.getTime());
}
