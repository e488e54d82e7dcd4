import { HOUR_MS } from '@gantry/contract/durations';
import type { Executor } from '../platform/database/transaction.ts';
import type { Interval } from '../platform/time.ts';
import { findNoHits, type Hits } from './no-hits.ts';
import { readCountedHours } from './no-hits-store.ts';
import { type KnownSensor, readBrokenSpans } from './presence-store.ts';
import { type Facility, SEVERITIES, type SensorFlag, type Setting, THRESHOLDS } from './quality-rules.ts';
import { readFlags, readReviews, type StoredReview } from './quality-store.ts';
import { NOTHING_REJECTED, Rejected, rejectedSpans } from './rejected.ts';
import { type Place, source } from './slots-store.ts';

/** What rules need to know about where a sensor stands. */
export interface Surroundings {
  readonly facility: Facility;
  readonly setting: Setting;
  /** The number of lanes that a count without a lane is of. */
  readonly lanes: number;
}

/** What is known about the surroundings of the sensors of a place. Where nothing is entered, it is a lane of a main line. */
export function surroundingsOf(_place: Place): Surroundings {
  return { facility: 'MAINLINE', setting: 'URBAN', lanes: 1 };
}

/** So far around a range vehicles are sought, to see whether there was none for too long. */
export function reachOf(place: Place): number {
  return (THRESHOLDS.noHitsHours[surroundingsOf(place).facility] + 2) * HOUR_MS;
}

/** What rules and people say about the data of the sensors of a place. */
export interface Verdicts {
  readonly flags: readonly SensorFlag[];
  /** In the order in which they were made. */
  readonly reviews: readonly StoredReview[];
  readonly rejected: Rejected;
}

export const NO_VERDICTS: Verdicts = { flags: [], reviews: [], rejected: NOTHING_REJECTED };

/**
 * What rules and people say about the data of sensors in a range.
 * @param alive the slots of five minutes in which sensors that send vehicles saw any, from `reachOf` before the range until
 *   as long after it
 */
export async function readVerdicts(
  db: Executor,
  place: Place,
  sensors: readonly KnownSensor[],
  { range, now, alive }: { range: Interval; now: number; alive: ReadonlyMap<string, readonly number[]> },
): Promise<Verdicts> {
  const ids = sensors.map(({ sensorId }) => sensorId);
  const reach = reachOf(place);
  const wide = { from: range.from - reach, until: Math.min(range.until + reach, now) };
  const periodic = sensors.filter((sensor) => sensor.source === source.COUNTED);
  const [stored, reviews, broken, counted] = await Promise.all([
    readFlags(db, ids, range),
    readReviews(db, place, ids, range),
    readBrokenSpans(db, ids, range),
    readCountedHours(
      db,
      periodic.map(({ sensorId }) => sensorId),
      wide,
    ),
  ]);
  const hours = THRESHOLDS.noHitsHours[surroundingsOf(place).facility];
  const silent: SensorFlag[] = [];
  for (const { sensorId, isSilent, source: counts } of sensors) {
    if (isSilent) continue;
    const isPeriodic = counts === source.COUNTED;
    const hits: Hits = {
      sensorId,
      isPeriodic,
      slots: (isPeriodic ? counted.get(sensorId) : alive.get(sensorId)) ?? [],
    };
    silent.push(...(await findNoHits(db, hits, wide, { now, hours })));
  }
  const flags = [
    ...stored,
    ...silent.filter(({ from, until }) => from < range.until && until > range.from),
    ...broken.map(({ sensorId, status, from, until }) => ({
      rule: 'R17' as const,
      severity: SEVERITIES.R17,
      sensorId,
      from,
      until: Math.min(until, now),
      value: null,
      threshold: null,
      note: status,
    })),
  ];
  return { flags, reviews, rejected: rejectedOf(place, sensors, flags, reviews) };
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
    reviews.filter(({ placeId }) => placeId === id || placeId === place.id);
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
