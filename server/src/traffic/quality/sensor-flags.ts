import { DAY_MS, HOUR_MS } from '@gantry/contract/durations';
import type { Executor } from '../../platform/database/transaction.ts';
import type { Interval, LocalDay } from '../../platform/time.ts';
import { groupsBy } from '../assigned.ts';
import { source } from '../passed-store.ts';
import type { LimitedPlace } from '../places-store.ts';
import { type KnownSensor, readBrokenSpans } from '../presence-store.ts';
import type { Place } from '../slots-store.ts';
import { findNoHits, type Hits } from './no-hits.ts';
import { readCountedHours } from './no-hits-store.ts';
import { NOTHING_REJECTED, Rejected, rejectedSpans } from './rejected.ts';
import { SEVERITIES, type SensorFlag, THRESHOLDS } from './rules.ts';
import { daysToJudge, judgeSamples } from './samples.ts';
import { type FoundFlag, readFlags, readReviews, readUnjudged, type StoredReview } from './store.ts';
import type { SurroundingsOfPlace } from './surroundings.ts';

/** What rules and people say about the data of the sensors of a place. */
export interface Verdicts {
  readonly flags: readonly SensorFlag[];
  /** In the order in which they were made. */
  readonly reviews: readonly StoredReview[];
  readonly rejected: Rejected;
  /** The number of days of a sensor whose samples are still to be judged. */
  readonly unjudgedDays: number;
}

export const NO_VERDICTS: Verdicts = { flags: [], reviews: [], rejected: NOTHING_REJECTED, unjudgedDays: 0 };

/** So far around a range vehicles are sought, to see whether there was none for too long. */
export function reachOf(
  { of }: SurroundingsOfPlace,
  sensors: readonly { readonly sensorId: string }[],
): number {
  const hours = sensors.map(({ sensorId }) => THRESHOLDS.noHitsHours[of(sensorId).facility]);
  return (Math.max(THRESHOLDS.noHitsHours.MAINLINE, ...hours) + 2) * HOUR_MS;
}

/** How rejected data are left out. */
export interface Excluding {
  /** The time zone of days. */
  readonly zone: string;
  /** Whether a long time without a vehicle is not believed (R1). Otherwise it is known as long as the sensor works. */
  readonly isSilenceJudged?: boolean;
  /** Whether days that are not judged yet count as they were sent. Otherwise readers judge some of them. */
  readonly isSentKept?: boolean;
}

/**
 * How figures leave out rejected data in which a long time without a vehicle is as known as the status of the sensor says: on a
 * quiet road it is usual, and nothing was counted in it that would have to be left out.
 */
export function asKnown(zone: string): Excluding {
  return { zone, isSilenceJudged: false };
}

/** What is read of the sensors of a place. */
interface Asked {
  readonly range: Interval;
  readonly now: number;
  /** The slots of five minutes in which sensors that send vehicles saw any, from `reachOf` before the range until as long after it. */
  readonly alive: ReadonlyMap<string, readonly number[]>;
  readonly surroundings: SurroundingsOfPlace;
  readonly excluding: Excluding;
}

/** What rules and people say about the data of sensors in a range. */
export async function readVerdicts(
  db: Executor,
  place: LimitedPlace,
  sensors: readonly KnownSensor[],
  asked: Asked,
): Promise<Verdicts> {
  const { range } = asked;
  const ids = sensors.map(({ sensorId }) => sensorId);
  const [found, reviews, broken, silent] = await Promise.all([
    readSampleFlags(db, place, sensors, asked),
    readReviews(db, [place.id, place.locationId ?? place.id, ...ids], range),
    readBroken(db, ids, asked),
    asked.excluding.isSilenceJudged === false ? [] : readSilent(db, sensors, asked),
  ]);
  const flags = [
    ...found.flags,
    ...silent.filter(({ from, until }) => from < range.until && until > range.from),
    ...broken,
  ];
  return {
    flags,
    reviews,
    rejected: rejectedOf(place, sensors, flags, reviews),
    unjudgedDays: found.unjudgedDays,
  };
}

/**
 * What is rejected of the data of locations, by their ids, as `readVerdicts` finds it without R1 and as long as days that are not judged count as they
 * were sent.
 * @param locations their sensors
 */
export async function readRejected(
  db: Executor,
  locations: ReadonlyMap<string, readonly KnownSensor[]>,
  range: Interval,
  now: number,
): Promise<ReadonlyMap<string, Rejected>> {
  const ids = [...new Set([...locations.values()].flat().map(({ sensorId }) => sensorId))];
  const past = { from: range.from, until: Math.max(range.from, Math.min(range.until, now)) };
  const [stored, reviews, broken] = await Promise.all([
    readFlags(db, ids, past),
    readReviews(db, [...locations.keys(), ...ids], past),
    readBroken(db, ids, { range: past, now }),
  ]);
  const flags = groupsBy([...stored, ...broken], ({ sensorId }) => sensorId);
  const decided = groupsBy(reviews, ({ placeId }) => placeId);
  return new Map(
    [...locations].map(([id, sensors]) => {
      const ofSensors = sensors.map(({ sensorId }) => sensorId);
      const own = ofSensors.flatMap((each) => flags.get(each) ?? []);
      const about = [id, ...ofSensors].flatMap((each) => decided.get(each) ?? []);
      about.sort((a, b) => Number(a.id) - Number(b.id));
      return [id, rejectedOf({ kind: 'location', id }, sensors, own, about)];
    }),
  );
}

/** R17. */
async function readBroken(
  db: Executor,
  ids: readonly string[],
  { range, now }: Pick<Asked, 'range' | 'now'>,
): Promise<SensorFlag[]> {
  const spans = await readBrokenSpans(db, ids, range);
  return spans.map(({ sensorId, status, from, until }) => ({
    rule: 'R17',
    severity: SEVERITIES.R17,
    sensorId,
    from,
    until: Math.min(until, now),
    value: null,
    threshold: null,
    note: status,
  }));
}

/** R1. */
async function readSilent(
  db: Executor,
  sensors: readonly KnownSensor[],
  { range, now, alive, surroundings }: Asked,
): Promise<SensorFlag[]> {
  const reach = reachOf(surroundings, sensors);
  const wide = { from: range.from - reach, until: Math.min(range.until + reach, now) };
  const periodic = sensors.filter((sensor) => sensor.source === source.COUNTED);
  const counted = await readCountedHours(
    db,
    periodic.map(({ sensorId }) => sensorId),
    wide,
  );
  const silent: SensorFlag[] = [];
  for (const { sensorId, isSilent, source: counts } of sensors) {
    if (isSilent) continue;
    const isPeriodic = counts === source.COUNTED;
    const hits: Hits = {
      sensorId,
      isPeriodic,
      slots: (isPeriodic ? counted.get(sensorId) : alive.get(sensorId)) ?? [],
    };
    const hours = THRESHOLDS.noHitsHours[surroundings.of(sensorId).facility];
    silent.push(...(await findNoHits(db, hits, wide, { now, hours })));
  }
  return silent;
}

/** Days of a sensor that a reader judges itself; more are judged soon. */
const MAX_JUDGED = 31;

/** What is stored of R3 to R10, R14 and R15, and what is found in days that are not judged. */
async function readSampleFlags(
  db: Executor,
  place: LimitedPlace,
  sensors: readonly KnownSensor[],
  { range, now, surroundings, excluding: { zone, isSentKept = false } }: Asked,
): Promise<{ flags: SensorFlag[]; unjudgedDays: number }> {
  const ids = sensors.map(({ sensorId }) => sensorId);
  const single = sensors.filter((sensor) => sensor.source !== source.COUNTED).map(({ sensorId }) => sensorId);
  // What is found in a day lasts a day longer, and depends on the day before.
  const near = { from: range.from - 3 * DAY_MS, until: range.until };
  const [stored, unjudged] = await Promise.all([
    readFlags(db, ids, range),
    isSentKept ? [] : readUnjudged(db, ids, single, near),
  ]);
  if (unjudged.length === 0) return { flags: stored, unjudgedDays: 0 };
  const flags: FoundFlag[] = [...stored];
  let [left, unjudgedDays] = [MAX_JUDGED, 0];
  for (const { sensorId, source: counts } of sensors) {
    const own = unjudged.filter((each) => each.sensorId === sensorId);
    if (counts === null || own.length === 0) continue;
    // What took the service too long must not fail every question about the place.
    const failed = own.filter(({ attempts }) => attempts > 0);
    const isFailed = (day: LocalDay): boolean =>
      failed.some(({ start }) => start < day.until && start + DAY_MS > day.from);
    const days = daysToJudge(own, zone)
      .filter(({ from, until }) => from < Math.min(range.until, now) && until > range.from - DAY_MS)
      .sort((a, b) => b.from - a.from);
    const judged = days.filter((day) => !isFailed(day)).slice(0, left);
    left -= judged.length;
    unjudgedDays += days.length - judged.length;
    const sensor = {
      sensorId,
      source: counts,
      surroundings: surroundings.of(sensorId),
      limits: place.limits,
    };
    const found = await judgeSamples(db, sensor, judged, { zone, now });
    const starts = new Set(judged.map(({ from }) => from));
    const kept = flags.filter((flag) => flag.sensorId !== sensorId || !starts.has(flag.foundAt));
    flags.splice(0, flags.length, ...kept, ...found);
  }
  return {
    flags: flags.filter(({ from, until }) => from < range.until && until > range.from),
    unjudgedDays,
  };
}

function rejectedOf(
  place: Place,
  sensors: readonly KnownSensor[],
  flags: readonly SensorFlag[],
  reviews: readonly StoredReview[],
): Rejected {
  if (flags.length === 0 && reviews.length === 0) return NOTHING_REJECTED;
  const isPeriodic = new Map(sensors.map((each) => [each.sensorId, each.source === source.COUNTED]));
  const judgedOf = (id: string) =>
    flags
      .filter(({ sensorId }) => sensorId === id)
      .map(({ severity, rule, from, until }) => {
        const isEmpty = rule === 'R1';
        // The last vehicle may have passed in the first moment of a slot.
        return { severity, from: isEmpty && !isPeriodic.get(id) ? from + 1 : from, until, isEmpty };
      });
  const decidedAbout = (id: string) =>
    reviews.filter(({ placeId }) => [id, place.id, place.locationId].includes(placeId));
  return new Rejected(
    new Map(
      [...new Set([...isPeriodic.keys(), place.id])].map((id) => {
        const [judged, decided] = [judgedOf(id), decidedAbout(id)];
        const counts = rejectedSpans(
          judged.filter(({ isEmpty }) => !isEmpty),
          decided,
        );
        return [id, { time: rejectedSpans(judged, decided), counts }];
      }),
    ),
  );
}
