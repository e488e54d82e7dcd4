import type { Core } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Interval, SLOT_MS } from '../platform/time.ts';
import { type Bucket, bucketsOf } from './flow.ts';
import type { LimitedPlace } from './places-store.ts';
import {
  type Assignment,
  findAssignments,
  readOnlineSpans,
  readSightings,
  type Sightings,
  type Span,
} from './presence-store.ts';
import { cutSegments, slotsWithin } from './segments.ts';
import { type Place, type RollupFields, readRollups } from './slots-store.ts';

/** What is known about the sensors of a place. */
interface Presence {
  readonly assignments: readonly Assignment[];
  /** The periods in which sensors were ONLINE. */
  readonly online: readonly Span[];
  readonly seen: readonly Sightings[];
}

/** The fraction of time with known counts, for each interval and in total. */
interface Completeness {
  readonly shares: readonly number[];
  readonly whole: number;
}

/**
 * The fraction of each interval with known counts: the time that sensors cover divided by the time for which they
 * were assigned to the place, up to `now`.
 * @param bounds the starts of the intervals and the end of the last one, on slots of five minutes
 */
function completenessOf(
  { assignments, online, seen }: Presence,
  bounds: readonly number[],
  now: number,
): Completeness {
  const first = bounds[0] ?? 0;
  const last = bounds.at(-1) ?? first;
  const expected = new Float64Array(bounds.length - 1);
  const covered = new Float64Array(bounds.length - 1);
  const end = Math.max(first, Math.min(last, Math.ceil(now / SLOT_MS) * SLOT_MS));
  for (const { sensorId, ...assignment } of assignments) {
    const isMine = (known: { sensorId: string }): boolean => known.sensorId === sensorId;
    const slots = coverSlots(online.filter(isMine), seen.filter(isMine), first, end);
    const from = between(assignment.from, first, end, first);
    const until = between(assignment.until, first, end, end);
    let interval = 0;
    for (let n = Math.ceil((from - first) / SLOT_MS); first + n * SLOT_MS < until; n++) {
      const slot = first + n * SLOT_MS;
      while (slot >= (bounds[interval + 1] ?? Number.POSITIVE_INFINITY)) interval++;
      expected[interval] = (expected[interval] ?? 0) + SLOT_MS;
      covered[interval] = (covered[interval] ?? 0) + (slots[n] ?? 0);
    }
  }
  return {
    shares: Array.from(covered, (part, n) => shareOf(part, expected[n] ?? 0)),
    whole: shareOf(total(covered), total(expected)),
  };
}

/** The covered time in each slot. Spans may overlap; overlaps count once. */
function coverSlots(
  spans: readonly Span[],
  seen: readonly Sightings[],
  from: number,
  until: number,
): Float64Array {
  const covered = new Float64Array(Math.ceil((until - from) / SLOT_MS));
  for (const span of spans) {
    const start = Math.max(span.from, from);
    const end = Math.min(span.until, until);
    for (let at = start; at < end; ) {
      const slot = Math.floor((at - from) / SLOT_MS);
      const next = Math.min(from + (slot + 1) * SLOT_MS, end);
      covered[slot] = Math.min(SLOT_MS, (covered[slot] ?? 0) + next - at);
      at = next;
    }
  }
  for (const { hours, alive } of seen)
    for (const [n, hour] of hours.entries())
      for (let bits = alive[n] ?? 0, slot = (hour - from) / SLOT_MS; bits > 0; bits >>= 1, slot++)
        if ((bits & 1) === 1 && slot >= 0 && slot < covered.length) covered[slot] = SLOT_MS;
  return covered;
}

function between(time: number | null, least: number, most: number, otherwise: number): number {
  return Math.min(Math.max(time ?? otherwise, least), most);
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}

function total(parts: Float64Array): number {
  return parts.reduce((sum, part) => sum + part, 0);
}

/** The services that traffic figures need. */
export type Parts = Pick<Core, 'db' | 'settings'> & { readonly clock: Pick<Core['clock'], 'now'> };

/** From the start of the first interval to the end of the last one. */
export function rangeOf(bounds: readonly number[]): Interval {
  return {
    from: bounds[0] ?? 0,
    until: bounds.at(-1) ?? 0,
  };
}

/**
 * The completeness of each interval and in total.
 * @param now the time in Unix milliseconds: what comes after it is not missing
 */
export async function readCompleteness(
  db: Executor,
  place: Place,
  bounds: readonly number[],
  now: number,
): Promise<Completeness> {
  const range = rangeOf(bounds);
  const assignments = await findAssignments(db, place, range);
  const sensorIds = assignments.map(({ sensorId }) => sensorId);
  const [online, seen] = await Promise.all([
    readOnlineSpans(db, sensorIds, range),
    readSightings(db, sensorIds, range),
  ]);
  return completenessOf({ assignments, online, seen }, bounds, now);
}

/** The traffic in each interval, read from the longest possible slots. */
export async function readBuckets(
  db: Executor,
  place: LimitedPlace,
  bounds: readonly number[],
  asked: RollupFields,
): Promise<Bucket[]> {
  const segments = cutSegments(
    [{ minutes: slotsWithin(bounds), ...rangeOf(bounds) }],
    place.limits.map(({ since }) => since),
  );
  return bucketsOf(await readRollups(db, place, segments, asked), bounds, place.limits);
}
