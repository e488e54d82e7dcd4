import { isDeepStrictEqual } from 'node:util';
import { directionOfText, laneOfText, movementOfText } from '../events/passage-columns.ts';
import type { Core } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import { passedAt } from './assigned.ts';
import {
  type Bin,
  binStatus,
  type Cell,
  cellKey,
  DIMENSIONS,
  type Dimension,
  isMotor,
  pickDimensions,
} from './bin.ts';
import { findCounters, type PlaceCounts } from './counters.ts';
import {
  type Choice,
  type Counter,
  type CoveringCounter,
  choiceAt,
  chooseTypes,
  classOf,
  countByKind,
  type KindCount,
  type KindSpeed,
  type Rollups,
  rolesOf,
  rollupsOf,
  slotsOf,
  speedsByKind,
  type WantedVehicles,
  wantedOf,
} from './counting.ts';
import { readLongPeriods } from './periods-store.ts';
import type { LimitedPlace } from './places-store.ts';
import {
  type Edges,
  readEdges,
  readObservedSpans,
  readOnlineSpans,
  readSightings,
  type Sightings,
} from './presence-store.ts';
import type { Rejected } from './quality/rejected.ts';
import { type ChannelSample, readSamples } from './quality/samples-store.ts';
import { type Excluding, NO_VERDICTS, reachOf, readVerdicts, type Verdicts } from './quality/sensor-flags.ts';
import { readSurroundings } from './quality/surroundings.ts';
import { cutAt, indexOf, type ReadRange, segmentsOf, slotsWithin } from './segments.ts';
import type { Counts, Detail, Kind } from './slots-store.ts';
import type { Passage, SingleVehicle } from './vehicles-store.ts';

/**
 * Says of a gap that it is a part of an interval that a detector counted as a whole.
 * @param longer those intervals
 */
export function coarserIf<Point extends { readonly status: string }>(
  point: Point,
  { from, until }: Interval,
  longer: readonly Interval[],
) {
  const isPart = point.status === 'GAP' && longer.some((each) => each.from < until && each.until > from);
  return isPart ? { ...point, reason: 'COARSER_DATA' as const } : point;
}

/** The fraction of time with known counts. */
export interface Completeness {
  /** For each interval, of the time for which sensors were at the place. */
  readonly shares: readonly number[];
  /** For each interval, of the whole interval. */
  readonly coverage: readonly number[];
  /** As `shares`, for all intervals together. */
  readonly whole: number;
}

/** The traffic of a place in a range. */
export interface Traffic {
  readonly rollups: Rollups;
  /** What rules and people say about the data; nothing if rejected data are included. */
  readonly verdicts: Verdicts;
  /** Whether sensors of one type count at any time, so that what counts does not depend on the range. */
  readonly isOfOneType: boolean;
  /** For each interval, whether any of its data are rejected. @param bounds as for `completenessOf` */
  readonly isRejectedIn: (bounds: readonly number[]) => readonly boolean[];
  /** @param bounds the starts of intervals within the range and the end of the last one, on slots of five minutes */
  readonly completenessOf: (bounds: readonly number[]) => Completeness;
  /**
   * The traffic in intervals, with its parts by direction, lane, class and movement.
   * @param bounds as for `completenessOf`, and boundaries of the slots that were read
   * @param by the parts that are told apart; without `class`, parts are those of motor vehicles
   */
  readonly binsOf: (bounds: readonly number[], by?: readonly Dimension[]) => Bin[];
  /** Reads the volumes of shorter intervals, as bins without their parts. @param bounds as for `completenessOf` */
  readonly readVolumes: (bounds: readonly number[]) => Promise<Bin[]>;
  /** The speeds of motor vehicles by slot, direction and lane. Nothing if they were left out. */
  readonly speedCells: () => (Omit<Cell, 'volume'> & Omit<KindSpeed, 'kind'>)[];
  /** Reads the single vehicles whose speeds are in the rollups, as far as their events are still stored. */
  readonly readSpeeds: () => Promise<readonly SingleVehicle[]>;
  /** Reads the motor vehicles in the volumes, as far as their events are still stored; also those that are rejected. */
  readonly readPassages: () => Promise<readonly CountedPassage[]>;
  /** Reads the occupancies (percent) of intervals that sensors counted, as far as they are not rejected. */
  readonly readOccupancies: () => Promise<readonly ChannelSample[]>;
  /** Reads the counts of more than five minutes, of which shorter intervals have no part. */
  readonly readLongPeriods: () => Promise<Interval[]>;
}

/** A vehicle that passed; `isRejected` if it does not count. */
export interface CountedPassage extends Passage {
  readonly isRejected: boolean;
}

/** The services that traffic figures need. */
export interface Parts {
  readonly db: Executor;
  readonly settings: Pick<Core['settings'], 'current'>;
  readonly clock: Pick<Core['clock'], 'now'>;
}

/** From the start of the first interval to the end of the last one. */
export function rangeOf(bounds: readonly number[]): Interval {
  return {
    from: bounds[0] ?? 0,
    until: bounds.at(-1) ?? 0,
  };
}

/** Intervals between bounds, which are read in the longest possible slots in which no limit changes. */
export function inIntervals(place: LimitedPlace, bounds: readonly number[]): ReadRange {
  return cutAtLimits(place, between(bounds));
}

function between(bounds: readonly number[]): ReadRange {
  return { segments: [{ minutes: slotsWithin(bounds), ...rangeOf(bounds) }], edges: bounds };
}

/** A range, rounded outwards to slots of five minutes, which is read as one interval in the fewest slots in which no limit changes. */
export function asWhole(place: LimitedPlace, range: Interval): ReadRange {
  const segments = segmentsOf(range);
  return cutAtLimits(place, {
    segments,
    edges: [segments[0]?.from ?? range.from, segments.at(-1)?.until ?? range.until],
  });
}

function cutAtLimits({ limits }: LimitedPlace, range: ReadRange): ReadRange {
  return cutAt(
    range,
    limits.map(({ since }) => since),
  );
}

/**
 * Reads the traffic of a place: which of its sensors count, and what they counted. A sensor counts its intervals if it
 * ever sent counts of them, otherwise its detections, otherwise plates that it read; one that sends only other events counts nothing. Of several types of
 * sensors at a location, one counts (`chooseTypes`).
 * @param wanted what is read
 * @param now the time in Unix milliseconds: what comes after it is not missing
 * @param detail what is read; without `kinds`, bins have no parts, and without `speeds`, rollups no histograms
 * @param excluding how to leave out the data that rules or people rejected; by default, they are included
 */
export async function readTraffic(
  db: Executor,
  place: LimitedPlace,
  wanted: ReadRange,
  {
    now,
    detail = 'speeds',
    excluding,
    ...vehicles
  }: { now: number; detail?: Detail; excluding?: Excluding | undefined } & WantedVehicles,
): Promise<Traffic> {
  const range = rangeOf(wanted.edges);
  const end = Math.max(range.from, Math.min(range.until, Math.ceil(now / SLOT_MS) * SLOT_MS));
  const [{ sensors, counters, phases, changes, periodic, ...reading }, surroundings] = await Promise.all([
    findCounters(db, place, range, end),
    excluding && readSurroundings(db, place, Math.min(range.until, now)),
  ]);
  const known = sensors.filter(({ sensorId }) => counters.some((counter) => counter.sensorId === sensorId));
  const single = counters.filter(({ isPeriodic }) => !isPeriodic).map(({ sensorId }) => sensorId);
  const past = { from: range.from, until: end };
  const isSilenceJudged = surroundings && excluding?.isSilenceJudged !== false;
  const alive = await readAlive(
    db,
    [...new Set(single)],
    past,
    isSilenceJudged ? reachOf(surroundings, known) : REACH_MS,
  );
  const verdicts =
    surroundings && excluding
      ? await readVerdicts(db, place, known, { range: past, now, alive, surroundings, excluding })
      : NO_VERDICTS;
  const { rejected } = verdicts;
  const cuts = [...new Set([...changes, ...rejected.cuts])].sort((a, b) => a - b);
  const cover = (read: PlaceCounts): Promise<CoveringCounter[]> => coverOf(db, counters, past, alive, read);
  const whole = cutAt(wanted, cuts);
  const started = reading.startReading(whole, detail);
  const [covered, read] = await Promise.all([cover(started), started.counts]);
  const covering = keptOf(covered, rejected, range);
  const counts = keptCounts(read, rejected);
  // What a sensor counts while it does not stand at the place is of its type as well.
  const absent = sensors.filter(({ sensorId }) => !covering.some((counter) => counter.sensorId === sensorId));
  const never = { isPeriodic: false, from: range.from, until: range.from, covered: new Float64Array() };
  const all = [...covering, ...absent.map((sensor) => ({ ...sensor, ...never }))];
  const choices = chooseTypes(phases, all, counts, range);
  const isWanted = wantedOf(vehicles);
  const rollups = rollupsOf(counts, all, choices, isWanted);
  const completeness = (bounds: readonly number[], by = covering): Completeness =>
    completenessOf(by, choices, range, bounds);
  const isRejectedIn = rejectionsOf(rejected, { covered, read }, range);
  const knownOf = (bounds: readonly number[], by = covering) => ({
    coverage: completeness(bounds, by).coverage,
    isRejected: isRejectedIn(bounds),
    now,
  });
  return {
    rollups,
    verdicts,
    isOfOneType: phases.every(({ types }) => types.length < 2),
    completenessOf: (bounds) => completeness(bounds),
    isRejectedIn,
    readLongPeriods: async () => (periodic.length === 0 ? [] : readLongPeriods(db, periodic, range)),
    binsOf: (bounds, by) => {
      const kinds =
        detail === 'sums'
          ? []
          : countByKind(counts, all, choices).filter(({ kind }) => isWanted?.(kind) ?? true);
      return binsOf(bounds, { rollups, kinds, ...knownOf(bounds) }, by);
    },
    speedCells: () =>
      detail === 'speeds'
        ? speedsByKind(counts, all, choices).map(({ kind, ...speed }) => ({ ...partOf(kind), ...speed }))
        : [],
    readVolumes: async (bounds) => {
      const within = cutAt(between(bounds), cuts);
      if (isDeepStrictEqual(within, whole)) return binsOf(bounds, { rollups, kinds: [], ...knownOf(bounds) });
      const volumes = reading.startReading(within, isWanted === null ? 'sums' : 'kinds');
      // Shorter slots do not contain the longer periods.
      const [by, found] = await Promise.all([
        periodic.length === 0 ? covering : cover(volumes).then((each) => keptOf(each, rejected, range)),
        volumes.counts.then((each) => keptCounts(each, rejected)),
      ]);
      return binsOf(bounds, {
        rollups: rollupsOf(found, all, choices, isWanted),
        kinds: [],
        ...knownOf(bounds, by),
      });
    },
    readSpeeds: async () => {
      const roleOf = rolesOf(all, choices);
      const { open, assigned } = await reading.readVehicles();
      const isOpen = ({ sensorId, slot }: SingleVehicle): boolean => roleOf(sensorId, slot).hasSpeeds;
      return [...open.filter(isOpen), ...assigned].filter(
        (vehicle) =>
          !rejected.hasCounts(vehicle.sensorId, vehicle.slot) && (isWanted?.(vehicle) ?? vehicle.isMotor),
      );
    },
    readPassages: async () => {
      const roleOf = rolesOf(all, choices);
      const { open, assigned } = await reading.readPassages();
      const counted = open.filter(({ sensorId, slot }) => roleOf(sensorId, slot).hasVolume);
      return [...counted, ...assigned]
        .filter(({ isMotor }) => isMotor)
        .map((each) => ({ ...each, isRejected: rejected.hasCounts(each.sensorId, each.slot) }));
    },
    readOccupancies: async () => {
      const roleOf = rolesOf(all, choices);
      const samples = counters.map(async ({ sensorId, isPeriodic, detectors, from, until }) => {
        const stay = { from: Math.max(from, range.from), until: Math.min(until, range.until) };
        if (!isPeriodic || stay.from >= stay.until) return [];
        const known = (await readSamples(db, sensorId, stay)).filter(
          ({ start, occupancy }) =>
            typeof occupancy === 'number' && !rejected.hasCounts(sensorId, slotOf(start)),
        );
        return detectors
          ? known.flatMap((sample) => passedAt(detectors, sample, slotOf(sample.start)))
          : known.filter(({ start }) => roleOf(sensorId, start).hasVolume);
      });
      return (await Promise.all(samples)).flat();
    },
  };
}

/** Counters without the time that is rejected. */
function keptOf(
  counters: readonly CoveringCounter[],
  rejected: Rejected,
  { from }: Interval,
): CoveringCounter[] {
  return counters.map((counter) => ({
    ...counter,
    covered: rejected.coveredOf(counter.sensorId, from, counter.covered),
  }));
}

/** Counts without those that are rejected. */
function keptCounts(counts: Counts, rejected: Rejected): Counts {
  if (rejected.isNone) return counts;
  return { ...counts, rows: counts.rows.filter(({ sensorId, slot }) => !rejected.hasCounts(sensorId, slot)) };
}

/** Finds the intervals in which anything that is known was rejected. */
function rejectionsOf(
  rejected: Rejected,
  { covered, read }: { covered: readonly CoveringCounter[]; read: Counts },
  { from, until }: Interval,
): (bounds: readonly number[]) => boolean[] {
  if (rejected.isNone) return (bounds) => bounds.slice(1).map(() => false);
  const isRejected = new Uint8Array(Math.ceil((until - from) / SLOT_MS));
  for (const { sensorId, covered: time } of covered) {
    const kept = rejected.coveredOf(sensorId, from, time);
    for (let n = 0; n < time.length; n++) if (time[n] !== kept[n]) isRejected[n] = 1;
  }
  for (const { sensorId, slot } of read.rows)
    if (rejected.hasCounts(sensorId, slot)) isRejected[Math.floor((slot - from) / SLOT_MS)] = 1;
  return (bounds) =>
    bounds.slice(1).map((end, n) => {
      const start = ((bounds[n] ?? end) - from) / SLOT_MS;
      return isRejected.subarray(start, (end - from) / SLOT_MS).includes(1);
    });
}

function binsOf(
  bounds: readonly number[],
  {
    rollups,
    kinds,
    coverage,
    isRejected,
    now,
  }: {
    rollups: Rollups;
    kinds: readonly KindCount[];
    coverage: readonly number[];
    isRejected: readonly boolean[];
    now: number;
  },
  by: readonly Dimension[] = DIMENSIONS,
): Bin[] {
  const { from, until } = rangeOf(bounds);
  const volumes = new Float64Array(bounds.length);
  const { parts, indexes } = partsOf(kinds, by);
  const counts: KindCount[][] = kinds.length === 0 ? [] : bounds.map(() => []);
  const intervalOf = (slot: number): number | null =>
    slot >= from && slot < until ? indexOf(bounds, slot) : null;
  for (const [n, slot] of rollups.slots.entries()) {
    const interval = intervalOf(slot);
    if (interval !== null) volumes[interval] = (volumes[interval] ?? 0) + (rollups.volumes[n] ?? 0);
  }
  for (const count of kinds) {
    const interval = intervalOf(count.slot);
    if (interval !== null) counts[interval]?.push(count);
  }
  const sums = new Float64Array(parts.length);
  const cellsOf = (found: readonly KindCount[]): Cell[] => {
    const used = new Set<number>();
    for (const { kind, volume } of found) {
      const index = indexes.get(kind);
      if (index === undefined) continue;
      sums[index] = (used.has(index) ? (sums[index] ?? 0) : 0) + volume;
      used.add(index);
    }
    const inOrder = [...used].sort((a, b) => a - b);
    return inOrder.map((index) => ({ ...parts[index], volume: sums[index] ?? 0 }));
  };
  return bounds.slice(1).map((end, n) => {
    const [known, volume] = [coverage[n] ?? 0, volumes[n] ?? 0];
    const isExcluded = isRejected[n] === true && known === 0 && volume === 0;
    const status = binStatus({ isOver: end <= now, coverage: known, volume, isExcluded });
    return {
      start: bounds[n] ?? end,
      end,
      status,
      coverage: known,
      volume: volume > 0 || known > 0 ? volume : null,
      cells: counts[n] ? cellsOf(counts[n]) : [],
    };
  });
}

/**
 * The parts that kinds of vehicles are of, in the order in which they are listed: by direction, lane and class, the same for the same
 * counts. Kinds that are in no part have no index.
 */
function partsOf(
  counts: readonly KindCount[],
  by: readonly Dimension[],
): {
  readonly parts: readonly Omit<Cell, 'volume'>[];
  readonly indexes: ReadonlyMap<Kind, number>;
} {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const kinds = new Map(
    [...new Set(counts.map(({ kind }) => kind))]
      .map((kind) => [kind, partOf(kind)] as const)
      .filter(([, part]) => by.includes('class') || isMotor(part))
      .map(([kind, part]) => [kind, pickDimensions(part, by)]),
  );
  const byKey = new Map([...kinds.values()].map((part) => [cellKey(part), part]));
  const inOrder = [...byKey].sort(([a], [b]) => compare(a, b));
  const ranks = new Map(inOrder.map(([key], rank) => [key, rank]));
  return {
    parts: inOrder.map(([, part]) => part),
    indexes: new Map([...kinds].map(([kind, part]) => [kind, ranks.get(cellKey(part)) ?? 0])),
  };
}

/** What vehicles of a kind are a part of. The names of lanes that are numbers become numbers. */
function partOf(kind: Kind): Omit<Cell, 'volume'> {
  const { direction, lane, movement } = kind;
  const vehicleClass = classOf(kind);
  return {
    ...(direction !== '' && { direction: directionOfText(direction) }),
    ...(lane !== '' && { lane: laneOfText(lane) }),
    ...(movement !== '' && { movement: movementOfText(movement) }),
    ...(vehicleClass && { class: vehicleClass }),
  };
}

/** Vehicles of a sensor that are at most so far apart have no unknown time between them. */
export const MAX_SILENCE_MS = 20 * 60_000;

/** So far outside of a range a vehicle may be that covers a part of it. */
const REACH_MS = MAX_SILENCE_MS + SLOT_MS;

/** The slots of five minutes in which sensors saw anything, from some time before a range until as long after it. */
async function readAlive(
  db: Executor,
  sensorIds: readonly string[],
  range: Interval,
  reach: number,
): Promise<ReadonlyMap<string, number[]>> {
  const wider = { from: range.from - reach, until: range.until + reach };
  const seen = sensorIds.length === 0 ? [] : await readSightings(db, sensorIds, wider);
  return new Map(
    sensorIds.map((id) => [
      id,
      aliveSlots(
        seen.filter(({ sensorId }) => sensorId === id),
        wider,
      ),
    ]),
  );
}

/**
 * The time that each sensor covers: in which it was ONLINE according to its status history or sent every vehicle, slots in which it saw
 * anything, and silence of at most 20 minutes between two vehicles. Sensors that count intervals cover these.
 * @param alive as from `readAlive`, of those that send vehicles
 * @param periods what is read of these
 */
async function coverOf(
  db: Executor,
  counters: readonly Counter[],
  range: Interval,
  alive: ReadonlyMap<string, readonly number[]>,
  periods: Pick<PlaceCounts, 'readPresentSpans' | 'readSpans'>,
): Promise<CoveringCounter[]> {
  const ids = [...alive.keys()];
  const isAnySingle = ids.length > 0;
  const present = counters.filter(({ isPeriodic, detectors }) => isPeriodic && !detectors);
  const periodic = [...new Set(present.map(({ sensorId }) => sensorId))];
  const [counted, online, observed] = await Promise.all([
    periods.readPresentSpans(periodic),
    isAnySingle ? readOnlineSpans(db, ids, range) : [],
    isAnySingle ? readObservedSpans(db, ids, range) : [],
  ]);
  const doubtful: [sensorId: string, slot: number][] = [];
  for (const [id, slots] of alive)
    for (const [n, slot] of slots.entries())
      if ((slots[n + 1] ?? slot) - slot === MAX_SILENCE_MS)
        doubtful.push([id, slot], [id, slot + MAX_SILENCE_MS]);
  const edges = await readEdges(db, doubtful);
  const coveredBy = new Map(
    ids.map((id) => {
      const spans = [...online, ...observed].filter(({ sensorId }) => sensorId === id);
      return [id, coverSlots([...spans, ...silencesOf(id, alive.get(id) ?? [], edges)], range)];
    }),
  );
  return Promise.all(
    counters.map(async (counter) => {
      const { sensorId, isPeriodic, detectors } = counter;
      if (!isPeriodic) return { ...counter, covered: coveredBy.get(sensorId) ?? new Float64Array() };
      const spans = detectors
        ? await periods.readSpans(counter)
        : counted.filter((span) => span.sensorId === sensorId);
      return { ...counter, covered: coverSlots(spans, range) };
    }),
  );
}

/** The slots of five minutes within a range, which begins with one, in which a sensor saw anything, in order. */
function aliveSlots(seen: readonly Sightings[], { from, until }: Interval): number[] {
  const isAlive = new Uint8Array(Math.ceil((until - from) / SLOT_MS));
  for (const { hours, alive } of seen)
    for (const [n, hour] of hours.entries())
      for (let bits = alive[n] ?? 0, slot = hour; bits > 0; bits >>= 1, slot += SLOT_MS)
        if ((bits & 1) === 1 && slot >= from && slot < until) isAlive[(slot - from) / SLOT_MS] = 1;
  const slots: number[] = [];
  for (let n = 0; n < isAlive.length; n++) if (isAlive[n] === 1) slots.push(from + n * SLOT_MS);
  return slots;
}

/** The slots in which a sensor saw anything, together with the short silences after them, as spans. */
function silencesOf(
  sensorId: string,
  slots: readonly number[],
  edges: ReadonlyMap<string, Edges>,
): Interval[] {
  const isLong = (slot: number, next: number): boolean => {
    if (next - slot !== MAX_SILENCE_MS) return next - slot > MAX_SILENCE_MS;
    const [before, after] = [edges.get(`${sensorId} ${slot}`), edges.get(`${sensorId} ${next}`)];
    return before !== undefined && after !== undefined && after.first - before.last > MAX_SILENCE_MS;
  };
  const spans: Interval[] = [];
  let from = slots[0] ?? 0;
  for (const [n, slot] of slots.entries()) {
    const next = slots[n + 1];
    if (next !== undefined && !isLong(slot, next)) continue;
    spans.push({ from, until: slot + SLOT_MS });
    from = next ?? from;
  }
  return spans;
}

/**
 * The covered time in each slot, by spans or shares of them. Spans may overlap; overlaps count once: what is known of a longer span
 * is of the time that shorter ones do not cover.
 */
function coverSlots(
  spans: readonly (Interval & { readonly share?: number })[],
  { from, until }: Interval,
): Float64Array {
  const covered = new Float64Array(Math.ceil((until - from) / SLOT_MS));
  const lengthOf = (span: Interval): number => span.until - span.from;
  const freeOf = (slot: number, time: number): number => Math.min(time, SLOT_MS - (covered[slot] ?? 0));
  for (const span of spans.toSorted((a, b) => lengthOf(a) - lengthOf(b))) {
    const within = { from: Math.max(span.from - from, 0), until: Math.min(span.until, until) - from };
    const length = lengthOf(within);
    let free = 0;
    forEachSlot(within, (slot, time) => {
      free += freeOf(slot, time);
    });
    if (free === 0) continue;
    const share = free < length ? Math.min(1, ((span.share ?? 1) * length) / free) : (span.share ?? 1);
    forEachSlot(within, (slot, time) => {
      covered[slot] = (covered[slot] ?? 0) + share * freeOf(slot, time);
    });
  }
  return covered;
}

/** Calls a function with each slot of a time, as its number, and how much of that time is in it. @param time from the start of the first slot */
function forEachSlot({ from, until }: Interval, visit: (slot: number, time: number) => void): void {
  for (let at = from; at < until; ) {
    const slot = Math.floor(at / SLOT_MS);
    const next = Math.min((slot + 1) * SLOT_MS, until);
    visit(slot, next - at);
    at = next;
  }
}

/** The share of intervals that the counting sensors cover, on average where there are several. */
function completenessOf(
  counters: readonly CoveringCounter[],
  choices: readonly Choice[],
  range: Interval,
  bounds: readonly number[],
): Completeness {
  const length = Math.ceil((range.until - range.from) / SLOT_MS);
  const [expected, covered] = [new Float64Array(length), new Float64Array(length)];
  const [only] = choices.length === 1 ? choices : [];
  for (const counter of counters) {
    const [first, end] = slotsOf(counter, range);
    for (let n = first; n < end; n++) {
      const choice = only ?? choiceAt(choices, range.from + n * SLOT_MS);
      if (choice?.volume != null && choice.volume !== counter.type) continue;
      expected[n] = (expected[n] ?? 0) + SLOT_MS;
      covered[n] = (covered[n] ?? 0) + (counter.covered[n] ?? 0);
    }
  }
  const parts = bounds.slice(1).map((until, n) => {
    const from = bounds[n] ?? until;
    let [allExpected, allCovered, allKnown] = [0, 0, 0];
    const end = (until - range.from) / SLOT_MS;
    for (let slot = (from - range.from) / SLOT_MS; slot < end; slot++) {
      const there = expected[slot] ?? 0;
      const known = covered[slot] ?? 0;
      allExpected += there;
      allCovered += known;
      if (there > 0) allKnown += (known / there) * SLOT_MS;
    }
    return { expected: allExpected, covered: allCovered, known: allKnown, length: until - from };
  });
  const sumOf = (key: 'expected' | 'covered'): number => parts.reduce((sum, part) => sum + part[key], 0);
  return {
    shares: parts.map((part) => shareOf(part.covered, part.expected)),
    coverage: parts.map((part) => shareOf(part.known, part.length)),
    whole: shareOf(sumOf('covered'), sumOf('expected')),
  };
}

function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}
