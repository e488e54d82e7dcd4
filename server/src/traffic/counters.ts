import type { Executor } from '../platform/database/transaction.ts';
import { ENDLESS, type Interval } from '../platform/time.ts';
import {
  assignedCounts,
  assignedPassages,
  assignedVehicles,
  cellsOf,
  common,
  type Detector,
  detectorsOf,
  isForVolumes,
  isOfAllKinds,
  joinCounts,
  type Reading,
  readingsOf,
} from './assigned.ts';
import {
  type CountedSpan,
  type Counter,
  countedSpans,
  type Phase,
  phasesOf,
  storedSpans,
} from './counting.ts';
import { readCrossingCounts, readCrossingSpans } from './crossing-periods.ts';
import { source } from './passed-store.ts';
import { readCountedSpans } from './periods-store.ts';
import { readAssigned } from './points-store.ts';
import {
  findOnlyHere,
  findStays,
  type KnownSensor,
  type Moved,
  readMoved,
  readSensors,
  readSensorsById,
  type Stay,
  without,
} from './presence-store.ts';
import { type Spans, withSpan } from './quality/rejected.ts';
import { partsWithin, type ReadRange } from './segments.ts';
import {
  type Counts,
  type CountsOptions,
  type Detail,
  type Place,
  type Read,
  readCounts,
  readOf,
} from './slots-store.ts';
import { type Passage, readPassed, readVehicles, type SingleVehicle } from './vehicles-store.ts';

/** What counts at a place in a range, and how it is read. */
export interface PlaceCounters {
  readonly sensors: readonly KnownSensor[];
  readonly counters: readonly Counter[];
  readonly phases: readonly Phase[];
  /** When something else begins to count: no slot may contain one of these times. */
  readonly changes: readonly number[];
  /** The sensors that count intervals. */
  readonly periodic: readonly string[];
  /**
   * Begins to read counts.
   * @param range what is read, cut at `changes`
   * @param detail what is read of it
   */
  readonly startReading: (range: ReadRange, detail: Detail) => PlaceCounts;
  /** Reads single vehicles; of assigned sensors, only those whose speeds count. */
  readonly readVehicles: () => Promise<{
    readonly open: SingleVehicle[];
    readonly assigned: SingleVehicle[];
  }>;
  /** The same of all vehicles that count, by when they passed. */
  readonly readPassages: () => Promise<{ readonly open: Passage[]; readonly assigned: Passage[] }>;
}

/** The counts of a place in a range. */
export interface PlaceCounts {
  readonly counts: Promise<Counts>;
  /** Reads how much of it the periods of sensors cover that are at the place. */
  readonly readPresentSpans: (sensorIds: readonly string[]) => Promise<CountedSpan[]>;
  /** The same of an assigned counter. */
  readonly readSpans: (counter: Counter) => Promise<CountedSpan[]>;
}

/**
 * Finds what counts at a place. While a sensor is assigned to a measuring point of a location, only assigned sensors count
 * there; otherwise all that are there do, by their types (`chooseTypes`). Each assignment is a counter of its own.
 * @param end what comes after it is not missing
 */
export async function findCounters(
  db: Executor,
  place: Place,
  range: Interval,
  end: number,
): Promise<PlaceCounters> {
  const [assignments, here, stays, allMoved, onlyHere] = await Promise.all([
    readAssigned(db, place),
    readSensors(db, place),
    place.kind === 'point' ? [] : findStays(db, place, range),
    place.kind === 'location' ? readMoved(db, range) : [],
    place.kind === 'location' ? findOnlyHere(db, place.id) : [],
  ]);
  const held = detectorsOf(assignments, range);
  const spans = timeOf(held.filter(isForVolumes));
  const detectors =
    place.kind === 'location' ? held.filter((each) => common(spans, [each]).length > 0) : held;
  const moved = allMoved.filter((each) => here.some(({ sensorId }) => sensorId === each.sensorId));
  const ids = new Set(detectors.map(({ assigned }) => assigned.sensorId));
  for (const { sensorId } of here) ids.delete(sensorId);
  const sensors = [...here, ...(await readSensorsById(db, [...ids]))];
  const byId = new Map(sensors.map((sensor) => [sensor.sensorId, sensor]));
  const readings = readingsOf(detectors, (sensorId) => byId.get(sensorId)?.source ?? null);
  const open = openOf(place, { sensors, moved, onlyHere, spans: without(spans, ENDLESS) });
  const present = presentCounters(stays, byId, open, { from: range.from, until: end });
  const phases = phasesOf(present, range).flatMap((phase) => openPhases(phase, spans));
  const changes = [...detectors, ...moved].flatMap(({ from, until }) => [from, until]);
  return {
    sensors,
    counters: [...present, ...assignedCounters(readings, byId, end)],
    phases,
    changes: [...new Set([...phases.slice(1).map(({ from }) => from), ...changes])].sort((a, b) => a - b),
    periodic: sensors.flatMap(({ sensorId, source: counted }) =>
      counted === source.COUNTED ? [sensorId] : [],
    ),
    startReading: (wanted, detail) => readPlaceCounts(db, open, readings, wanted, detail),
    readVehicles: async () => {
      const assigned = readings.map(async (reading) => {
        const { read, counting } = readOfSensors(reading);
        return assignedVehicles(await readVehicles(db, read, counting, range, true), reading);
      });
      return {
        open: (
          await readOpen(open, async (read, counting, isKept) =>
            (await readVehicles(db, read, counting, range)).filter(isKept),
          )
        ).flat(),
        assigned: (await Promise.all(assigned)).flat(),
      };
    },
    readPassages: async () => {
      const assigned = readings.map(async (reading) => {
        const { read, counting } = readOfSensors(reading);
        return assignedPassages(await readPassed(db, read, counting, range), reading);
      });
      const here = await readOpen(open, async (read, counting, isKept) =>
        (await readPassed(db, read, counting, range)).filter(isKept),
      );
      return { open: here.flat(), assigned: (await Promise.all(assigned)).flat() };
    },
  };
}

/** The sensors that stand at a place count while none is assigned to it. */
function presentCounters(
  stays: readonly Stay[],
  byId: ReadonlyMap<string, KnownSensor>,
  { spans }: Open,
  range: Interval,
): Counter[] {
  return stays.flatMap(({ sensorId, ...stay }): Counter[] => {
    const sensor = byId.get(sensorId);
    if (!sensor || sensor.source === null) return [];
    const [from, until] = [stay.from ?? range.from, Math.min(stay.until ?? range.until, range.until)];
    return spans
      .filter((part) => part.from < until && part.until > from)
      .map((part) => ({
        ...sensor,
        isPeriodic: sensor.source === source.COUNTED,
        from: Math.max(from, part.from),
        until: Math.min(until, part.until),
      }));
  });
}

/** The time of some intervals, in order. */
function timeOf(intervals: readonly Interval[]): Spans {
  return intervals.reduce<Spans>(withSpan, []);
}

/** The parts of a phase; while sensors are assigned, types do not matter. */
function openPhases(phase: Phase, spans: readonly Interval[]): Phase[] {
  const closed = spans.flatMap((span) => {
    const [from, until] = [Math.max(span.from, phase.from), Math.min(span.until, phase.until)];
    return from < until ? [{ from, until, types: [] }] : [];
  });
  if (closed.length === 0) return [phase];
  const parts = without(closed, phase).map((part) => ({ ...phase, ...part }));
  return [...parts, ...closed].sort((a, b) => a.from - b.from);
}

type Counting = Reading['counting'];

/** What is read of a place while no sensor is assigned to it. */
interface Open {
  readonly read: Read;
  readonly counting: Counting;
  readonly spans: readonly Interval[];
  /** Of sensors whose moves were entered afterwards: when what is stored does not say whether they were here. */
  readonly moved: ReadonlyMap<string, readonly Interval[]>;
  /** When they were here. */
  readonly wasHere: ReadonlyMap<string, readonly Interval[]>;
  /** Whether all that a sensor counted is stored with the place. */
  readonly hasAllOf: (sensorId: string) => boolean;
}

function openOf(
  place: Place,
  {
    sensors,
    moved,
    onlyHere,
    spans,
  }: {
    sensors: readonly KnownSensor[];
    moved: readonly Moved[];
    onlyHere: readonly string[];
    spans: readonly Interval[];
  },
): Open {
  const counting = sensors.flatMap(({ sensorId, source: counted }) =>
    counted === null || place.kind === 'point' ? [] : [{ sensorId, source: counted }],
  );
  const timesOf = (moves: readonly Moved[]) =>
    new Map(
      moves.map(({ sensorId }) => [sensorId, timeOf(moves.filter((each) => each.sensorId === sensorId))]),
    );
  const isMoved = timesOf(moved);
  return {
    read: { ...readOf(place), ...(place.kind === 'location' && { spans }) },
    counting,
    spans: place.kind === 'location' ? spans : [ENDLESS],
    moved: isMoved,
    wasHere: timesOf(moved.filter(({ locationId }) => locationId === place.id)),
    hasAllOf: (id) =>
      place.kind === 'location' ? !isMoved.has(id) && onlyHere.includes(id) : place.spans === undefined,
  };
}

/**
 * Reads what is stored with the place, and what moved sensors saw there.
 * @param readPart reads all that is not left out by `isKept`
 */
function readOpen<Part>(
  { read, counting, spans, moved, wasHere }: Open,
  readPart: (
    read: Read,
    counting: Counting,
    isKept: (row: { readonly sensorId: string; readonly slot: number }) => boolean,
  ) => Promise<Part>,
): Promise<Part[]> {
  const parts = [...wasHere].map(([id, times]) =>
    readPart(
      { sensorIds: [id], spans: common(times, spans) },
      counting.filter(({ sensorId }) => sensorId === id),
      () => true,
    ),
  );
  const isKept = ({ sensorId, slot }: { readonly sensorId: string; readonly slot: number }): boolean =>
    !moved.get(sensorId)?.some(({ from, until }) => slot >= from && slot < until);
  return Promise.all([readPart(read, counting, moved.size === 0 ? () => true : isKept), ...parts]);
}

/** One counter for each assignment that counts. */
function assignedCounters(
  readings: readonly Reading[],
  byId: ReadonlyMap<string, KnownSensor>,
  end: number,
): Counter[] {
  const detectors = new Set(readings.flatMap((reading) => reading.detectors).filter(isForVolumes));
  const counters = new Map<string, Counter & { readonly detectors: Detector[] }>();
  for (const detector of detectors) {
    const { id, sensorId, countedTypes } = detector.assigned;
    const {
      type,
      source: usual,
      isSilent,
    } = byId.get(sensorId) ?? { type: '', source: null, isSilent: true };
    const known = counters.get(id);
    counters.set(id, {
      sensorId,
      type,
      isSilent,
      isPeriodic: countedTypes === null && usual === source.COUNTED,
      from: known?.from ?? detector.from,
      until: Math.min(detector.until, end),
      detectors: [...(known?.detectors ?? []), detector],
    });
  }
  return [...counters.values()];
}

function readOfSensors({ counting, detectors }: Reading): { read: Read; counting: Counting } {
  const sensorIds = [...new Set(counting.map(({ sensorId }) => sensorId))];
  return { read: { sensorIds, spans: timeOf(detectors) }, counting };
}

function readPlaceCounts(
  db: Executor,
  open: Open,
  readings: readonly Reading[],
  range: ReadRange,
  detail: Detail,
): PlaceCounts {
  const here = readOpenCounts(db, open, range, detail);
  const parts = readings
    .map((reading) =>
      detail === 'speeds' ? reading : { ...reading, detectors: reading.detectors.filter(isForVolumes) },
    )
    .filter(({ detectors }) => detectors.length > 0)
    .map((reading) => {
      const needed = detail === 'sums' && !reading.detectors.every(isOfAllKinds) ? 'kinds' : detail;
      return { ...reading, detail: needed, counts: readAssignedCounts(db, reading, range, needed) };
    });
  const spansOf = async (detector: Detector, part: (typeof parts)[number]): Promise<CountedSpan[]> => {
    const { sensorId } = detector.assigned;
    const { kinds, rows } = await part.counts;
    const own = rows.filter(
      (row) => row.sensorId === sensorId && row.slot >= detector.from && row.slot < detector.until,
    );
    if (part.detail === 'sums')
      return (
        storedSpans(own) ??
        readSpansOf(db, [sensorId], { ...range, segments: partsWithin(range.segments, [detector]) })
      );
    return countedSpans(own, isOfAllKinds(detector) ? null : new Set(cellsOf(detector, kinds)));
  };
  const assigned = parts.map(async (part) => assignedCounts(await part.counts, part));
  return {
    counts: Promise.all([here, ...assigned]).then(joinCounts),
    readPresentSpans: async (sensorIds) => {
      const known = new Set(sensorIds.filter(open.hasAllOf));
      const others = sensorIds.filter((id) => !known.has(id));
      const [{ rows }, read] = await Promise.all([here, readSpansOf(db, others, range)]);
      const own = rows.filter(({ sensorId }) => known.has(sensorId));
      const spans = detail === 'sums' ? storedSpans(own) : countedSpans(own, null);
      return [...(spans ?? (await readSpansOf(db, [...known], range))), ...read];
    },
    readSpans: async ({ detectors = [] }) => {
      const spans = detectors.map((detector) => {
        const part = parts.find(({ detectors: each }) => each.includes(detector));
        return part ? spansOf(detector, part) : [];
      });
      return (await Promise.all(spans)).flat();
    },
  };
}

async function readOpenCounts(db: Executor, open: Open, range: ReadRange, detail: Detail): Promise<Counts> {
  const parts = await readOpen(open, async (read, counting, isKept) => {
    const { kinds, rows } = await readAllCounts(db, read, counting, range, { detail });
    return { kinds, rows: open.moved.size === 0 ? rows : rows.filter(isKept) };
  });
  return joinCounts(parts);
}

function readAssignedCounts(
  db: Executor,
  reading: Reading,
  range: ReadRange,
  detail: Detail,
): Promise<Counts> {
  const { read, counting } = readOfSensors(reading);
  return readAllCounts(db, read, counting, range, {
    detail,
    hasEarlier: reading.detectors.every(({ assigned }) => assigned.countedTypes === null),
  });
}

/** What slots contain, and the periods that none of them does. */
async function readAllCounts(
  db: Executor,
  read: Read,
  counting: Counting,
  range: ReadRange,
  options: CountsOptions,
): Promise<Counts> {
  const [counts, crossing] = await Promise.all([
    readCounts(db, read, counting, range.segments, options),
    readCrossingCounts(db, read, counting, range, options.detail),
  ]);
  if (crossing.rows.length === 0) return counts;
  return { kinds: new Map([...counts.kinds, ...crossing.kinds]), rows: [...counts.rows, ...crossing.rows] };
}

/** How much of a range the periods of sensors cover, wherever they stand. */
async function readSpansOf(
  db: Executor,
  sensorIds: readonly string[],
  range: ReadRange,
): Promise<CountedSpan[]> {
  const [spans, crossing] = await Promise.all([
    readCountedSpans(db, sensorIds, range.segments),
    readCrossingSpans(db, sensorIds, range),
  ]);
  return [...spans, ...crossing];
}
