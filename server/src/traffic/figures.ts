import { isDeepStrictEqual } from 'node:util';
import { directionOfText, laneOfText, movementOfText } from '../events/passage-columns.ts';
import type { Core } from '../platform/context.ts';
import type { Executor } from '../platform/database/transaction.ts';
import { type Interval, SLOT_MS, slotOf } from '../platform/time.ts';
import { passedAt } from './assigned.ts';
import { type Bin, binStatus, type Cell, cellKey } from './bin.ts';
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
import { indexOf } from './flow.ts';
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
import { cutSegments, type Segment, slotsWithin } from './segments.ts';
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
  /** For each interval, whether any of its data are rejected. @param bounds as for `completenessOf` */
  readonly isRejectedIn: (bounds: readonly number[]) => readonly boolean[];
  /** @param bounds the starts of intervals within the range and the end of the last one, on slots of five minutes */
  readonly completenessOf: (bounds: readonly number[]) => Completeness;
  /**
   * The traffic in intervals, with its parts by direction, lane, class and movement.
   * @param bounds as for `completenessOf`, and boundaries of the slots that were read
   */
  readonly binsOf: (bounds: readonly number[]) => Bin[];
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

/** The segments between bounds, in the longest possible slots in which no limit changes. */
export function segmentsWithin(place: LimitedPlace, bounds: readonly number[]): Segment[] {
  return cutSegments(
    [{ minutes: slotsWithin(bounds), ...rangeOf(bounds) }],
    place.limits.map(({ since }) => since),
  );
}

/**
 * Reads the traffic of a place: which of its sensors count, and what they counted. A sensor counts its intervals if it
 * ever sent counts of them, otherwise its detections, otherwise plates that it read; one that sends only other events counts nothing. Of several types of
 * sensors at a location, one counts (`chooseTypes`).
 * @param segments parts of one range, in order
 * @param now the time in Unix milliseconds: what comes after it is not missing
 * @param detail what is read; without `kinds`, bins have no parts, and without `speeds`, rollups no histograms
 * @param excluding how to leave out the data that rules or people rejected; by default, they are included
 */
export async function readTraffic(
  db: Executor,
  place: LimitedPlace,
  segments: readonly Segment[],
  {
    now,
    detail = 'speeds',
    excluding,
    ...wanted
  }: { now: number; detail?: Detail; excluding?: Excluding | undefined } & WantedVehicles,
): Promise<Traffic> {
  const range = { from: segments[0]?.from ?? 0, until: segments.at(-1)?.until ?? 0 };
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
  const whole = cutSegments(segments, cuts);
  const started = reading.startReading(whole, detail);
  const [covered, read] = await Promise.all([cover(started), started.counts]);
  const covering = keptOf(covered, rejected, range);
  const counts = keptCounts(read, rejected);
  // What a sensor counts while it does not stand at the place is of its type as well.
  const absent = sensors.filter(({ sensorId }) => !covering.some((counter) => counter.sensorId === sensorId));
  const never = { isPeriodic: false, from: range.from, until: range.from, covered: new Float64Array() };
  const all = [...covering, ...absent.map((sensor) => ({ ...sensor, ...never }))];
  const choices = chooseTypes(phases, all, counts, range);
  const isWanted = wantedOf(wanted);
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
    completenessOf: (bounds) => completeness(bounds),
    isRejectedIn,
    readLongPeriods: async () => (periodic.length === 0 ? [] : readLongPeriods(db, periodic, range)),
    binsOf: (bounds) => {
      const kinds =
        detail === 'sums'
          ? []
          : countByKind(counts, all, choices).filter(({ kind }) => isWanted?.(kind) ?? true);
      return binsOf(bounds, { rollups, kinds, ...knownOf(bounds) });
    },
    speedCells: () =>
      detail === 'speeds'
        ? speedsByKind(counts, all, choices).map(({ kind, ...speed }) => ({ ...partOf(kind), ...speed }))
        : [],
    readVolumes: async (bounds) => {
      const within = cutSegments([{ minutes: slotsWithin(bounds), ...rangeOf(bounds) }], cuts);
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
    if (rejected.hasCounts(sensorId, slot)) isRejected[(slot - from) / SLOT_MS] = 1;
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
): Bin[] {
  const { from, until } = rangeOf(bounds);
  const volumes = new Float64Array(bounds.length);
  const { parts, indexes } = partsOf(kinds);
  const counts = bounds.map(() => new Map<number, number>());
  const intervalOf = (slot: number): number | null =>
    slot >= from && slot < until ? indexOf(bounds, slot) : null;
  for (const [n, slot] of rollups.slots.entries()) {
    const interval = intervalOf(slot);
    if (interval !== null) volumes[interval] = (volumes[interval] ?? 0) + (rollups.volumes[n] ?? 0);
  }
  for (const { slot, kind, volume } of kinds) {
    const interval = intervalOf(slot);
    const sums = interval === null ? undefined : counts[interval];
    const index = indexes.get(kind) ?? 0;
    sums?.set(index, (sums.get(index) ?? 0) + volume);
  }
  const cellsOf = (sums: ReadonlyMap<number, number>): Cell[] =>
    [...sums.keys()]
      .sort((a, b) => a - b)
      .map((index) => ({ ...parts[index], volume: sums.get(index) ?? 0 }));
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
      cells: cellsOf(counts[n] ?? new Map()),
    };
  });
}

/** The parts that kinds of vehicles are of, in the order in which they are listed: by direction, lane and class, the same for the same counts. */
function partsOf(counts: readonly KindCount[]): {
  readonly parts: readonly Omit<Cell, 'volume'>[];
  readonly indexes: ReadonlyMap<Kind, number>;
} {
  const { compare } = new Intl.Collator('en', { numeric: true });
  const kinds = new Map([...new Set(counts.map(({ kind }) => kind))].map((kind) => [kind, partOf(kind)]));
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
  const seen = await readSightings(db, sensorIds, wider);
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
  const present = counters.filter(({ isPeriodic, detectors }) => isPeriodic && !detectors);
  const periodic = [...new Set(present.map(({ sensorId }) => sensorId))];
  const [counted, online, observed] = await Promise.all([
    periods.readPresentSpans(periodic),
    readOnlineSpans(db, ids, range),
    readObservedSpans(db, ids, range),
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

/** The covered time in each slot, by spans or shares of them. Spans may overlap; overlaps count once. */
function coverSlots(
  spans: readonly (Interval & { readonly share?: number })[],
  { from, until }: Interval,
): Float64Array {
  const covered = new Float64Array(Math.ceil((until - from) / SLOT_MS));
  for (const span of spans) {
    const start = Math.max(span.from, from);
    const end = Math.min(span.until, until);
    for (let at = start; at < end; ) {
      const slot = Math.floor((at - from) / SLOT_MS);
      const next = Math.min(from + (slot + 1) * SLOT_MS, end);
      covered[slot] = Math.min(SLOT_MS, (covered[slot] ?? 0) + (span.share ?? 1) * (next - at));
      at = next;
    }
  }
  return covered;
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
  for (const counter of counters) {
    const [first, end] = slotsOf(counter, range);
    for (let n = first; n < end; n++) {
      const choice = choiceAt(choices, range.from + n * SLOT_MS);
      if (choice?.volume != null && choice.volume !== counter.type) continue;
      expected[n] = (expected[n] ?? 0) + SLOT_MS;
      covered[n] = (covered[n] ?? 0) + (counter.covered[n] ?? 0);
    }
  }
  const parts = bounds.slice(1).map((until, n) => {
    const from = bounds[n] ?? until;
    const sum = { expected: 0, covered: 0, known: 0 };
    for (let slot = (from - range.from) / SLOT_MS; range.from + slot * SLOT_MS < until; slot++) {
      const [there = 0, known = 0] = [expected[slot], covered[slot]];
      sum.expected += there;
      sum.covered += known;
      sum.known += there === 0 ? 0 : (known / there) * SLOT_MS;
    }
    return { ...sum, length: until - from };
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
