import type { PlausibilityCheck } from '@gantry/contract/alarm-rules';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Executor } from '../platform/database/transaction.ts';
import { THRESHOLDS } from '../traffic/quality/rules.ts';
import { findChatter, findStuck } from '../traffic/quality/samples.ts';
import { groupedBy } from './observe-traffic.ts';
import type { SensorFact } from './sources-store.ts';
import {
  findSeeing,
  readCrossingHours,
  readHours,
  readPlateShares,
  readSeenHours,
  type SlotFact,
} from './traffic-store.ts';

// The checks of SENSOR_PLAUSIBILITY, adapted from the automatic failures of detectors in IRIS (Minnesota DOT).

/** A sensor that saw vehicles within this time is not silent, whatever is usual. */
const MIN_SILENT_MS = 4 * HOUR_MS;
/** Of a longer gap four weeks ago, the beginning is not read. */
const MAX_GAP_MS = 7 * DAY_MS;
const SPIKE_TIMES = 5;
/** A smaller volume is no spike: five vehicles at night instead of one are none. */
const MIN_SPIKE_VEHICLES = 50;

type Failing = ReadonlyMap<string, number | null>;

/** What the checks need to know. */
export interface CheckedNow {
  readonly sensors: readonly SensorFact[];
  /** The counts of the last minute that is known, and when it ended. */
  readonly minutes: readonly SlotFact[];
  readonly until: number;
  readonly now: number;
  /** The same local time in each of the four weeks before, the latest first; Unix milliseconds. */
  readonly weeksAgo: readonly number[];
  /** The last whole hour, and the same hour of the week in each of the four weeks before; Unix milliseconds. */
  readonly hours: readonly number[];
}

/** The sensors that fail each of the checks. */
export async function check(
  db: Executor,
  checks: ReadonlySet<PlausibilityCheck>,
  known: CheckedNow,
): Promise<ReadonlyMap<PlausibilityCheck, Failing>> {
  const failing = new Map<PlausibilityCheck, Failing>();
  const online = known.sensors.filter(({ status }) => status === 'ONLINE').map(({ id }) => id);
  for (const each of checks) failing.set(each, await CHECKS[each](db, known, online));
  return failing;
}

const CHECKS: Readonly<
  Record<PlausibilityCheck, (db: Executor, known: CheckedNow, online: readonly string[]) => Promise<Failing>>
> = {
  SILENT: findSilent,
  STUCK: (db, { now }, online) => findStuck(db, online, now),
  CHATTER: findChattering,
  SPIKE: findSpikes,
  CLOCK: async (_, { sensors }) =>
    new Map(
      sensors.flatMap(({ id, clockOffMs }) =>
        clockOffMs === null ? [] : [[id, clockOffMs / 1_000] as const],
      ),
    ),
  READ_RATE: findFewPlates,
};

/** The value is the number of hours without a vehicle. */
async function findSilent(
  db: Executor,
  { now, weeksAgo }: CheckedNow,
  online: readonly string[],
): Promise<Failing> {
  const seeing = await findSeeing(db, online, now - MIN_SILENT_MS);
  const candidates = online.filter((id) => !seeing.has(id));
  if (candidates.length === 0) return new Map();
  // A gap that contains the earliest of these times began before it.
  const seen = await readSeenHours(db, candidates, Math.min(...weeksAgo) - MAX_GAP_MS);
  return new Map(
    [...seen].flatMap(([id, hours]) => {
      const silence = silenceOf(hours, now, weeksAgo);
      return silence === null ? [] : [[id, silence / HOUR_MS] as const];
    }),
  );
}

/**
 * How long there has been no vehicle, in milliseconds, if that is longer than usual: the 99th percentile of the gaps that
 * contain this hour of the week in four weeks, and four hours. Null otherwise.
 * @param hours the beginnings of the hours with a vehicle, in order
 * @param weeksAgo the same time of the week before
 */
function silenceOf(hours: readonly number[], now: number, weeksAgo: readonly number[]): number | null {
  const last = hours.at(-1);
  if (last === undefined) return null;
  const silence = now - (last + HOUR_MS);
  const gaps: number[] = [];
  for (const then of weeksAgo) {
    const next = hours.findIndex((hour) => hour > then);
    const [before, after] = [hours[next - 1], hours[next]];
    if (before !== undefined && after !== undefined) gaps.push(Math.max(0, after - before - HOUR_MS));
  }
  gaps.sort((a, b) => a - b);
  const usual = gaps[Math.ceil(gaps.length * 0.99) - 1] ?? 0;
  return silence > Math.max(usual, MIN_SILENT_MS) ? silence : null;
}

/** The value is the number of vehicles in 30 s that end in the last minute; half of them are in it, or in the one before. */
function findChattering(db: Executor, { minutes, until }: CheckedNow): Promise<Failing> {
  const many = minutes.filter(
    ({ slot, vehicles }) => slot >= until - 2 * MINUTE_MS && vehicles >= THRESHOLDS.chatterVehicles / 2,
  );
  const ids = [...new Set(many.map(({ sensorId }) => sensorId))];
  return findChatter(db, ids, { from: until - 1.5 * MINUTE_MS, until });
}

/** The value is the number of vehicles in the hour. */
async function findSpikes(db: Executor, { hours, sensors }: CheckedNow): Promise<Failing> {
  const [last] = hours;
  const found = new Map<string, number>();
  const crossing = await readCrossingHours(
    db,
    sensors.map(({ id }) => id),
    hours,
  );
  const counted = [...(await readHours(db, hours)), ...crossing];
  for (const [id, rows] of groupedBy(counted, ({ sensorId }) => sensorId)) {
    const byHour = groupedBy(rows, ({ slot }) => slot);
    const volumeOf = (hour: number): number =>
      (byHour.get(hour) ?? []).reduce((n, { vehicles }) => n + vehicles, 0);
    const volume = volumeOf(last ?? 0);
    const greatest = Math.max(...hours.slice(1).map(volumeOf));
    if (volume >= MIN_SPIKE_VEHICLES && greatest > 0 && volume > SPIKE_TIMES * greatest)
      found.set(id, volume);
  }
  return found;
}

/** The value is the share of events with a plate. */
async function findFewPlates(
  db: Executor,
  { hours }: CheckedNow,
  online: readonly string[],
): Promise<Failing> {
  const shares = await readPlateShares(db, hours);
  const [last, ...before] = hours;
  return new Map(
    online.flatMap((id) => {
      const share = shares.get(`${id} ${last}`);
      const usual = before.flatMap((hour) => shares.get(`${id} ${hour}`) ?? []);
      if (share === undefined || usual.length === 0) return [];
      const mean = usual.reduce((sum, each) => sum + each, 0) / usual.length;
      return share < mean / 2 ? [[id, share] as const] : [];
    }),
  );
}
