import { isDeepStrictEqual } from 'node:util';
import {
  type CountPeriod,
  coverageOf,
  type IngestedPeriod,
  motorVehiclesOf,
  readPeriod,
} from '@gantry/contract/counts';
import { EARLIEST_EVENT } from '@gantry/contract/time-bounds';
import { classText, movementText } from '../events/passage-columns.ts';
import type { Core } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { heldAt } from '../platform/history.ts';
import { resolveTime } from '../platform/time.ts';
import type { KnownSensor } from '../sensors/sensor-keys.ts';
import { type Assigned, foreignDirection } from './assigned.ts';
import {
  addPeriodSums,
  endOf,
  findLastBefore,
  lockTraffic,
  type PeriodSum,
  putPeriods,
  type StoredPeriod,
} from './periods-store.ts';
import { readAssignedOf } from './points-store.ts';
import { noteUnjudged } from './quality/store.ts';
import { isPlausibleBin, measure } from './slots-store.ts';

type Parts = Pick<Core, 'db' | 'settings'> & { readonly clock: Pick<Core['clock'], 'now'> };
type Content = Omit<CountPeriod, 'start' | 'seconds' | 'direction' | 'lane' | 'movement'>;

/**
 * Stores what a sensor counted in intervals, each or none of a period: the same content of a key (direction, lane, movement,
 * start, seconds) again is a duplicate; other content replaces it, and the former is kept.
 * @param given as sent, for `readPeriod`
 * @param isDry whether to decide what would become of them, and store nothing
 * @returns a result for each, in their order
 */
export async function storePeriods(
  { db, settings, clock }: Parts,
  sensor: KnownSensor,
  given: readonly unknown[],
  isDry = false,
): Promise<IngestedPeriod[]> {
  const { timezone } = settings.current();
  const assignments = await readAssignedOf(db, sensor.id);
  const read = given.map((each) => {
    const period = readAs(each, sensor, timezone, clock.now());
    return 'error' in period ? period : (refuseDirection(period, assignments) ?? period);
  });
  const periods = read.flatMap((each) => ('error' in each ? [] : [each]));
  if (periods.length === 0) return read.flatMap((each) => ('error' in each ? [each] : []));
  const results = await inTransaction(db, async (tx) => {
    if (!isDry) await lockTraffic(tx);
    const stored = await findLastBefore(tx, sensor.id, periods);
    const { results, changed } = decide(periods, stored);
    if (isDry || changed.length === 0) return results;
    await putPeriods(
      tx,
      sensor.id,
      changed.map(({ period }) => period),
    );
    await addPeriodSums(
      tx,
      sensor.id,
      changed.flatMap(({ period, former }) => [...sumsOf(period, 1), ...(former ? sumsOf(former, -1) : [])]),
    );
    await noteUnjudged(
      tx,
      sensor.id,
      changed.map(({ period: { start } }) => start),
    );
    return results;
  });
  const inOrder = results.values();
  return read.map((each) => ('error' in each ? each : (inOrder.next().value as IngestedPeriod)));
}

function refusal(message: string): { error: { code: 'BAD_REQUEST'; message: string } } {
  return { error: { code: 'BAD_REQUEST', message } };
}

/** A period as it is stored, or why it is refused. */
function readAs(given: unknown, sensor: KnownSensor, timezone: string, now: number) {
  const read = readPeriod(given);
  if ('error' in read) return read;
  const { start: startText, seconds, direction, lane, movement, ...content } = read.period;
  const start = resolveTime(startText, timezone);
  if (start > now) {
    return refusal(
      'start: The period starts in the future: send it when it is over, or set the clock of the device',
    );
  }
  if (start < EARLIEST_EVENT) return refusal('start: The period starts before the year 2000');
  const { past } = sensor;
  const placed =
    past !== undefined && start < past.until ? (heldAt(past.placements, start) ?? sensor) : sensor;
  const period: StoredPeriod = {
    direction: direction?.toString() ?? '',
    lane: lane?.toString() ?? '',
    movement: movement ? movementText(movement) : '',
    start,
    seconds,
    locationId: placed.locationId,
    // As it is read from the database, without what is undefined.
    content: JSON.parse(JSON.stringify(content)),
  };
  return period;
}

/** Why a period is not of the point to which its sensor is assigned; null if it may be. */
function refuseDirection(period: StoredPeriod, assignments: readonly Assigned[]) {
  const direction = foreignDirection(assignments, period.start, period);
  return direction === null
    ? null
    : refusal(
        `direction: The sensor is assigned to a point ${direction}, which has no vehicles of the direction ${period.direction}: send those of its direction, or assign a channel of the sensor to another point`,
      );
}

interface Changed {
  readonly period: StoredPeriod;
  /** What is stored under its key. */
  readonly former: StoredPeriod | null;
}

/**
 * Decides what becomes of each period. Of several of one key in a call, the last one counts.
 * @param stored for each, the only stored one that may have its key or overlap it
 */
function decide(
  periods: readonly StoredPeriod[],
  stored: ReadonlyMap<number, StoredPeriod>,
): { results: IngestedPeriod[]; changed: Changed[] } {
  const byChannel = new Map<string, Changed[]>();
  const results = periods.map((period, n): IngestedPeriod => {
    const channel = JSON.stringify([period.direction, period.lane, period.movement]);
    const accepted = byChannel.get(channel) ?? [];
    byChannel.set(channel, accepted);
    const isThere = (other: StoredPeriod): boolean =>
      other.start < endOf(period) && period.start < endOf(other);
    const at = accepted.findIndex((other) => isThere(other.period));
    const former = stored.get(n);
    const known = accepted[at]?.period ?? (former && isThere(former) ? former : undefined);
    if (known && (known.start !== period.start || known.seconds !== period.seconds)) {
      return refusal(
        `start: The period overlaps one of ${known.seconds} s from ${new Date(known.start).toISOString()} of the same direction, lane and movement: send periods that follow one another, or that one again to replace it`,
      );
    }
    if (known && isDeepStrictEqual(known.content, period.content))
      return { duplicate: true, replaced: false };
    if (at >= 0) accepted[at] = { period, former: accepted[at]?.former ?? null };
    else accepted.push({ period, former: known ?? null });
    return { duplicate: false, replaced: known !== undefined };
  });
  return { results, changed: [...byChannel.values()].flat() };
}

/** What a period adds to the counts. @param sign -1 to subtract it */
export function sumsOf(period: StoredPeriod, sign: 1 | -1): PeriodSum[] {
  const content = period.content as unknown as Content;
  const none = { period, vehicleClass: '', vehicles: 0, measured: 0, speedSum: 0 };
  const expected = period.seconds * 1_000;
  const covered = Math.round(expected * coverageOf(content));
  const times = { ...none, measure: measure.EXPECTED, value: sign * expected };
  if (covered === 0 && coverageOf(content) === 0) return [times];
  const speeds = histogramOf(content);
  const measured = speeds.reduce((sum, { count }) => sum + count, 0);
  const speedSum = Math.round((content.speed?.mean ?? 0) * 1_000 * measured);
  // Speeds are not known by class, so with classes they are in a cell that contains no vehicles.
  const byClass = Object.entries(content.byClass?.counts ?? {}).map(([code, value]) => ({
    ...none,
    vehicleClass: classText({ scheme: content.byClass?.scheme ?? 'BASIC', code }),
    measure: measure.UNMEASURED,
    value: sign * value,
  }));
  const volume = content.byClass ? motorVehiclesOf(content.byClass) : (content.volume ?? 0);
  const rest = (content.byClass ? 0 : volume) - measured;
  return [
    { ...times, vehicles: sign * volume, measured: sign * measured, speedSum: sign * speedSum },
    { ...none, measure: measure.COVERED, value: sign * covered },
    { ...none, measure: measure.UNMEASURED, value: sign * rest },
    { ...none, measure: measure.SPEEDS, value: sign * speedSum },
    {
      ...none,
      measure: measure.SQUARES,
      value: sign * speeds.reduce((sum, { bin, count }) => sum + count * (100 * bin - 50) ** 2, 0),
    },
    ...byClass,
    ...speeds.map(({ bin, count }) => ({ ...none, measure: bin, value: sign * count })),
  ].filter(({ value }) => value !== 0);
}

/** A bin without an upper end is taken to be as wide, in km/h. */
const OPEN_WIDTH = 10;

/** The vehicles of a period by speed in whole km/h, spread evenly over the bins in which it was counted. */
function histogramOf({ speed }: Content): { bin: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { from, to = from + OPEN_WIDTH, count } of speed?.bins ?? []) {
    const first = Math.floor(from) + 1;
    const width = Math.max(1, Math.ceil(to) - first + 1);
    let before = 0;
    for (let n = 0; n < width; n++) {
      const upTo = Math.round((count * (n + 1)) / width);
      const bin = first + n;
      if (upTo > before && isPlausibleBin(bin)) counts.set(bin, (counts.get(bin) ?? 0) + upTo - before);
      before = upTo;
    }
  }
  return [...counts].map(([bin, count]) => ({ bin, count }));
}
