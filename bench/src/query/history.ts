import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { Severity } from '@gantry/contract/events';
import { sensorType } from '@gantry/contract/sensors';
import { type EventInput, reportFrom } from '@gantry/simulator/src/event.ts';
import { addressOf, type Place, places } from '@gantry/simulator/src/places.ts';
import { createRandom, mix, type Random } from '@gantry/simulator/src/random.ts';
import { trafficLevel } from '@gantry/simulator/src/traffic.ts';
import { vehicleOf } from '@gantry/simulator/src/vehicle.ts';

// A history of a year: rush hours, few incidents, recurring plates, busy and quiet sensors, devices that were
// offline, and reviewers who are some days behind. Rows are in the format of COPY.

export interface HistoryOptions {
  readonly events: number;
  readonly sensors: number;
  /** Unix milliseconds: `from` is inclusive, `until` exclusive. */
  readonly from: number;
  readonly until: number;
  /** The same seed gives the same history. */
  readonly seed: number;
}

export interface HistorySensor {
  readonly id: string;
  readonly name: string;
  readonly type: (typeof sensorType.options)[number];
  readonly place: Place;
  readonly address: string;
  /** In km/h, of the location of the sensor, which has the id of the sensor. */
  readonly speedLimit: number;
  readonly tags: readonly string[];
  readonly kilometre: number;
}

/** The columns of `events` that `historyRows` fills, in order. */
export const HISTORY_COLUMNS =
  'id, event_type, violation_type, vehicle_type, severity, sensor_id, sensor_name, location_name, vehicle_speed, ' +
  'description, metadata, location_id, lane, direction, plate_region, plate_confidence, plate, plate_key, created_at, ' +
  'processed, processed_at, archived';

const RANKS: Readonly<Record<Severity, number>> = { LOW: 1, MEDIUM: 2, HIGH: 3, CRITICAL: 4 };
const VIOLATION_RANKS: Readonly<Record<string, number>> = {
  WRONG_WAY: RANKS.CRITICAL,
  RED_LIGHT: RANKS.HIGH,
  LANE_VIOLATION: RANKS.LOW,
  ILLEGAL_PARKING: RANKS.LOW,
};

/** The fraction of reports about a vehicle that have a plate although they do not need one. */
const READ_ANYWAY = 0.6;

/** Number of vehicles that pass regularly, some far more often than others, and their fraction of the traffic. */
const COMMUTERS = 4_000;
const COMMUTING = 0.6;

/** Number of different reports of each sensor. In addition, every event has a time, plate and review of its own. */
const REPORTS_OF_SENSOR = 500;
const CHUNK_CHARS = 64 * 1024;

/** The limits of the locations of sensors, the tag of every tenth sensor, and the road of all locations. */
const LIMITS = [30, 50, 70, 90];
export const TAG = 'tenth';
export const ROAD = 'A2';
const REGIONS = ['DE', 'AT', 'CH', 'PL', 'US-CA', null];

/** The smallest id of an event at a time (Unix milliseconds), without hyphens. */
export function firstIdAt(time: number): string {
  return timeBits(time).padEnd(32, '0');
}

/** A UUID of version 7 for a time, like those of the service. */
function idAt(time: number, random: Random): string {
  const begin = timeBits(time);
  const [some, more, most] = [hex(random), hex(random), hex(random)];
  return `${begin.slice(0, 8)}-${begin.slice(8)}-7${some.slice(0, 3)}-a${some.slice(3, 6)}-${more}${most.slice(0, 4)}`;
}

/** The sensors of a history. Several share a place, with up to four different addresses. */
export function historySensors({ sensors, seed }: HistoryOptions): HistorySensor[] {
  const random = createRandom(mix(seed, 1));
  return Array.from({ length: sensors }, (_, index) => {
    const place = places[index % places.length] ?? places[0];
    const corner = 1 + (Math.floor(index / places.length) % 4);
    return {
      id: idAt(Date.UTC(2020, 0), random),
      name: `Mast ${index + 1}`,
      type: sensorType.options[index % sensorType.options.length] ?? 'CAMERA',
      place,
      address: `${addressOf(place)} / ${corner}`,
      speedLimit: LIMITS[index % LIMITS.length] ?? 50,
      tags: index % 10 === 0 ? [TAG] : [],
      kilometre: index / 2,
    };
  });
}

/** A typical report of a sensor: the cells that do not depend on the time, and the probability that the plate is read. */
interface Report {
  readonly cells: string;
  readonly plateIsRead: number;
}

/** The rows of a history in the order of time, in chunks of text for COPY. */
export function* historyRows(options: HistoryOptions): Generator<string> {
  const { until, seed } = options;
  const random = createRandom(mix(seed, 2));
  const reports = historySensors(options).map((sensor) => reportsOf(sensor, options, random));
  const commuters = Array.from({ length: COMMUTERS }, (_, number) =>
    vehicleOf(number).plate.replace('-', ''),
  );
  const pick = <Item>(items: readonly Item[], skew: number): Item | undefined =>
    items[Math.floor(items.length * random.next() ** skew)];
  const plate = (): string =>
    random.chance(COMMUTING)
      ? cell(pick(commuters, 2))
      : `${random.whole(1, 9)}${letter(random)}${letter(random)}${random.whole(1000, 9999)}`;

  const rowAt = (time: number): string => {
    const report = pick(pick(reports, 1.5) ?? [], 1);
    const key = random.chance(report?.plateIsRead ?? 0) ? plate() : '\\N';
    const delay = random.exponential(random.chance(0.995) ? 900 : 6 * HOUR_MS);
    const arrived = Math.min(until, time + 100 + Math.round(delay));
    const age = until - time;
    const processed = isProcessed(age, random);
    const reviewed = Math.min(until, arrived + random.exponential(DAY_MS));
    const fate = processed ? `t\t${new Date(reviewed).toISOString()}` : 'f\t\\N';
    const archived = age > 60 * DAY_MS && random.chance(0.01) ? 't' : 'f';
    const created = new Date(arrived).toISOString();
    return `${idAt(time, random)}\t${report?.cells}\t${key}\t${key}\t${created}\t${fate}\t${archived}\n`;
  };

  let chunk = '';
  for (const { start, count } of hours(options)) {
    const moments = Float64Array.from({ length: count }, () => start + Math.floor(random.next() * HOUR_MS));
    for (const time of moments.sort()) {
      chunk += rowAt(time);
      if (chunk.length < CHUNK_CHARS) continue;
      yield chunk;
      chunk = '';
    }
  }
  if (chunk !== '') yield chunk;
}

function hex(random: Random): string {
  return Math.floor(random.next() * 2 ** 32)
    .toString(16)
    .padStart(8, '0');
}

/** The first 48 bits of an id, in hexadecimal: the time in Unix milliseconds. */
function timeBits(time: number): string {
  return Math.max(0, time).toString(16).padStart(12, '0');
}

/** The number of events in each hour, proportional to its traffic; the sum is exact. */
function* hours({ from, until, events }: HistoryOptions): Generator<{ start: number; count: number }> {
  const starts: number[] = [];
  for (let start = from; start < until; start += HOUR_MS) starts.push(start);
  const levels = starts.map((start) => trafficLevel(start + HOUR_MS / 2));
  const sum = levels.reduce((total, level) => total + level, 0);
  let reached = 0;
  let given = 0;
  for (const [index, start] of starts.entries()) {
    reached += levels[index] ?? 0;
    const due = Math.round((events * reached) / sum);
    yield { start, count: due - given };
    given = due;
  }
}

function rankOf({ severity, violationType, eventType }: EventInput): number | null {
  if (severity) return RANKS[severity];
  if (violationType) return VIOLATION_RANKS[violationType] ?? RANKS.MEDIUM;
  return eventType === 'INCIDENT' ? RANKS.HIGH : null;
}

/** A value in the format of COPY. */
function cell(value: string | number | null | undefined): string {
  return value === null || value === undefined ? '\\N' : String(value).replace(/[\\\t\n\r]/g, ' ');
}

function reportsOf(sensor: HistorySensor, { from, until }: HistoryOptions, random: Random): Report[] {
  return Array.from({ length: REPORTS_OF_SENSOR }, () => {
    const event = reportFrom(sensor.type, sensor.place, from + random.next() * (until - from), random);
    const cells = [
      event.eventType,
      event.violationType,
      event.vehicleType,
      rankOf(event),
      sensor.id,
      sensor.name,
      sensor.address,
      event.vehicleSpeed,
      event.description,
      event.metadata && JSON.stringify(event.metadata),
      sensor.id,
      random.whole(1, 3),
      random.chance(0.5) ? 'NB' : 'SB',
      event.licensePlateNumber && REGIONS[random.whole(0, REGIONS.length - 1)],
      event.licensePlateNumber && random.whole(50, 99),
    ];
    const plateIsRead = event.licensePlateNumber ? 1 : event.vehicleType ? READ_ANYWAY : 0;
    return { cells: cells.map(cell).join('\t'), plateIsRead };
  });
}

function letter(random: Random): string {
  return 'ABCDEFGHJKLMNPRSTUVWXYZ'.charAt(Math.floor(random.next() * 23));
}

function isProcessed(age: number, random: Random): boolean {
  if (age > 3 * DAY_MS) return random.chance(0.97);
  return random.chance(age > DAY_MS ? 0.6 : 0.15);
}
