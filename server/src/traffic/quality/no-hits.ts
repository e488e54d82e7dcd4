import { HOUR_MS } from '@gantry/contract/durations';
import type { Executor } from '../../platform/database/transaction.ts';
import { type Interval, SLOT_MS } from '../../platform/time.ts';
import { readEdges } from '../presence-store.ts';
import { findFirstSlot, findNearestHour, readPeriodEdges } from './no-hits-store.ts';
import { flagOf, type SensorFlag } from './rules.ts';

/** When a sensor saw vehicles. */
export interface Hits {
  readonly sensorId: string;
  /** The slots with a vehicle, as Unix milliseconds, in order. */
  readonly slots: readonly number[];
  /** Whether these are hours of a sensor that counts intervals, and otherwise five minutes of one that sends vehicles. */
  readonly isPeriodic: boolean;
}

/** A time without a vehicle between two slots with one; null at the ends of what was read. */
interface Run {
  readonly after: number | null;
  readonly before: number | null;
}

/**
 * R1: no vehicle for longer than a threshold, from the end of the last interval with one, or the first report of the sensor,
 * until the next vehicle or now. Only the ends of those that may be too long are read exactly.
 * @param range what `hits` contains; it is wider than what is wanted by at least the threshold
 */
export async function findNoHits(
  db: Executor,
  { sensorId, slots, isPeriodic }: Hits,
  range: Interval,
  { now, hours }: { now: number; hours: number },
): Promise<SensorFlag[]> {
  const length = isPeriodic ? HOUR_MS : SLOT_MS;
  const runs = longRuns(slots, length, range, hours * HOUR_MS);
  if (runs.length === 0) return [];
  const ends = runs.flatMap(({ after, before }) => [after, before]).filter((each) => each !== null);
  const edges = await edgesOf(db, sensorId, [...new Set(ends)], isPeriodic);
  const flags: SensorFlag[] = [];
  for (const { after, before } of runs) {
    const from =
      after === null
        ? await lastBefore(db, sensorId, range.from, isPeriodic)
        : (edges.get(after)?.last ?? after + length);
    const until =
      before === null
        ? await firstFrom(db, sensorId, range.until, { now, isPeriodic })
        : (edges.get(before)?.first ?? before);
    if (from === null) continue;
    const value = (until - from) / HOUR_MS;
    if (value > hours) flags.push({ ...flagOf('R1', { from, until }, value, hours), sensorId });
  }
  return flags;
}

/** The runs without a vehicle that may last longer than a time. */
function longRuns(slots: readonly number[], length: number, { from, until }: Interval, time: number): Run[] {
  const runs: Run[] = [];
  for (let n = 0; n <= slots.length; n++) {
    const [after = null, before = null] = [slots[n - 1], slots[n]];
    if ((before === null ? until : before + length) - (after ?? from) > time) runs.push({ after, before });
  }
  return runs;
}

async function edgesOf(
  db: Executor,
  sensorId: string,
  slots: readonly number[],
  isPeriodic: boolean,
): Promise<ReadonlyMap<number, { first: number | null; last: number | null }>> {
  if (isPeriodic) {
    const edges = await readPeriodEdges(db, sensorId, slots);
    return new Map(edges.map((each, n) => [slots[n] ?? 0, each]));
  }
  const edges = await readEdges(
    db,
    slots.map((slot) => [sensorId, slot] as const),
  );
  return new Map(
    slots.flatMap((slot) => {
      const each = edges.get(`${sensorId} ${slot}`);
      return each ? [[slot, each] as const] : [];
    }),
  );
}

/** The end of the last vehicle before a time, or the first report of the sensor; null if it never sent any. */
async function lastBefore(
  db: Executor,
  sensorId: string,
  time: number,
  isPeriodic: boolean,
): Promise<number | null> {
  const found = await findNearestHour(db, sensorId, 'before', time);
  if (!found) return findFirstSlot(db, sensorId);
  const [edges] = isPeriodic ? await readPeriodEdges(db, sensorId, [found.hour]) : [found];
  return edges?.last ?? found.hour + HOUR_MS;
}

/** The first vehicle from a time on, or now. */
async function firstFrom(
  db: Executor,
  sensorId: string,
  time: number,
  { now, isPeriodic }: { now: number; isPeriodic: boolean },
): Promise<number> {
  if (time >= now) return now;
  const found = await findNearestHour(db, sensorId, 'from', time);
  if (!found) return now;
  const [edges] = isPeriodic ? await readPeriodEdges(db, sensorId, [found.hour]) : [found];
  return edges?.first ?? found.hour;
}
