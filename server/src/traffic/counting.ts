import { caseFold } from '@gantry/contract/case-fold';
import { MINUTE_MS } from '@gantry/contract/durations';
import { basicClassOf, classOfScheme } from '@gantry/contract/vehicle-classes';
import { classOfText } from '../events/passage-columns.ts';
import { type Interval, SLOT_MS } from '../platform/time.ts';
import type { Detector } from './assigned.ts';
import type { VehicleClass } from './bin.ts';
import { MAX_SPEED } from './passed-store.ts';
import { type Counts, isPlausibleBin, type Kind, measure, type Packed } from './slots-store.ts';

// Which of the sensors of a place count, so that one vehicle counts once.

/** A sensor that counts, while it stands at a place or is assigned to it. */
export interface Counter extends Interval {
  readonly sensorId: string;
  readonly type: string;
  /** Whether it never sent any event, so that it may not be for counting. */
  readonly isSilent: boolean;
  /** Whether it sends counts of intervals instead of vehicles. */
  readonly isPeriodic: boolean;
  /** Of an assignment: the times in which it holds. */
  readonly detectors?: readonly Detector[];
}

/** A counter with the time, in milliseconds, that it covers in each slot of five minutes of a range. */
export interface CoveringCounter extends Counter {
  readonly covered: Float64Array;
}

/** A part of a range in which sensors of the same types stand at a place; none while sensors are assigned to it. */
export interface Phase extends Interval {
  readonly types: readonly string[];
}

/** The types of sensors that count in a phase, and whose speeds are used; null for all. */
export interface Choice extends Interval {
  readonly volume: string | null;
  readonly speeds: string | null;
}

/**
 * Divides a range where another type of sensors is installed or removed: a radar that replaces a camera counts from then
 * on. Sensors that never sent anything matter only where there are no others.
 * @param range on slots of five minutes
 */
export function phasesOf(counters: readonly Counter[], range: Interval): Phase[] {
  const types = [...new Set(counters.map(({ type }) => type))].sort();
  if (types.length < 2) return [{ ...range, types }];
  const length = Math.ceil((range.until - range.from) / SLOT_MS);
  const [present, silent] = [new Uint32Array(length), new Uint32Array(length)];
  for (const counter of counters) {
    const [first, end] = slotsOf(counter, range);
    const bit = 1 << types.indexOf(counter.type);
    const into = counter.isSilent ? silent : present;
    for (let n = first; n < end; n++) into[n] = (into[n] ?? 0) | bit;
  }
  for (let n = 0; n < length; n++) present[n] ||= silent[n] ?? 0;
  const phases: Phase[] = [];
  for (let from = 0, n = 1; n <= length; n++) {
    if (n < length && present[n] === present[from]) continue;
    phases.push({
      from: range.from + from * SLOT_MS,
      until: range.from + n * SLOT_MS,
      types: types.filter((_, bit) => ((present[from] ?? 0) & (1 << bit)) !== 0),
    });
    from = n;
  }
  return phases;
}

/** The slots of five minutes of a range in which a sensor is expected to count, as the first and the one after the last. */
export function slotsOf(counter: Interval, range: Interval): [first: number, end: number] {
  const length = Math.ceil((range.until - range.from) / SLOT_MS);
  const slotAt = (time: number): number =>
    Math.min(Math.max(Math.ceil((time - range.from) / SLOT_MS), 0), length);
  return [slotAt(counter.from), slotAt(counter.until)];
}

/**
 * In each phase, the type of sensors that covers most of it counts; on a tie, the one that measures speeds, and then the
 * first by name. All its sensors are added up, because they stand for directions or lanes. Speeds are those of the same
 * sensors, or, if they measure none, of the type that measures most.
 */
export function chooseTypes(
  phases: readonly Phase[],
  counters: readonly CoveringCounter[],
  counts: Counts,
  range: Interval,
): Choice[] {
  const typeOf = new Map(counters.map(({ sensorId, type }) => [sensorId, type]));
  const measured = phases.map(() => new Map<string, number>());
  if (phases.some(({ types }) => types.length > 1))
    for (const { slot, sensorId, cells, measures, sums } of counts.rows) {
      const type = typeOf.get(sensorId);
      const speeds = measured[phases.findIndex(({ until }) => slot < until)];
      if (type === undefined || !speeds) continue;
      for (const [n, cell] of cells.entries())
        if (isPlausibleBin(measures[n] ?? 0) && counts.kinds.get(cell)?.isMotor)
          speeds.set(type, (speeds.get(type) ?? 0) + (sums[n] ?? 0));
    }
  return phases.map(({ from, until, types }, n) => {
    const [only = null] = types;
    if (types.length < 2) return { from, until, volume: only, speeds: only };
    const speedsOf = (type: string): number => measured[n]?.get(type) ?? 0;
    const shareOf = (type: string): number => coveredShare(counters, type, { from, until }, range);
    const [first, ...others] = types
      .map((type) => ({ type, share: shareOf(type), speeds: speedsOf(type) }))
      .sort((a, b) => b.share - a.share || Number(b.speeds > 0) - Number(a.speeds > 0));
    const [quickest] = others.sort((a, b) => b.speeds - a.speeds);
    const volume = first?.type ?? null;
    const measuresNone = first?.speeds === 0 && (quickest?.speeds ?? 0) > 0;
    return { from, until, volume, speeds: measuresNone ? (quickest?.type ?? null) : volume };
  });
}

/** The share of a phase that the sensors of a type cover on average, to four decimals. */
function coveredShare(
  counters: readonly CoveringCounter[],
  type: string,
  phase: Interval,
  range: Interval,
): number {
  let [covered, expected] = [0, 0];
  for (const counter of counters) {
    if (counter.type !== type) continue;
    const within = {
      from: Math.max(counter.from, phase.from),
      until: Math.min(counter.until, phase.until),
    };
    const [first, end] = slotsOf(within, range);
    for (let n = first; n < end; n++) covered += counter.covered[n] ?? 0;
    expected += Math.max(0, end - first) * SLOT_MS;
  }
  return expected === 0 ? 0 : Math.round((covered / expected) * 10_000) / 10_000;
}

/** The choice for a time, which is never null within the range of the choices. */
export function choiceAt(choices: readonly Choice[], time: number): Choice | undefined {
  return choices.length === 1 ? choices[0] : choices.find(({ until }) => time < until);
}

/** What a vehicle is, by its type. */
type Vehicle = Pick<Kind, 'vehicleType' | 'vehicleClass' | 'isMotor'>;

/**
 * The class that the sensor reported, or that its type of vehicle means in the scheme BASIC; undefined if it reported
 * neither. Vehicles in the volume have a class of motor vehicles.
 */
export function classOf({ vehicleType, vehicleClass, isMotor }: Vehicle): VehicleClass | undefined {
  if (vehicleClass !== '') {
    const { scheme, code } = classOfText(vehicleClass);
    return classOfScheme(scheme, code);
  }
  if (vehicleType === '') return undefined;
  const meant = classOfScheme('BASIC', basicClassOf(vehicleType));
  return (meant?.mode === 'MOTOR') === isMotor ? meant : classOfScheme('BASIC', 'UNCLASSIFIED');
}

/** The vehicles of a question: those of a type, or of a class of BASIC; by default, all motor vehicles. */
export interface WantedVehicles {
  /** In any case. */
  readonly vehicleType?: string | undefined;
  readonly vehicleClass?: string | undefined;
}

/** Whether a vehicle is wanted; null for all motor vehicles. */
export function wantedOf({
  vehicleType,
  vehicleClass,
}: WantedVehicles): ((vehicle: Vehicle) => boolean) | null {
  if (vehicleType === undefined && vehicleClass === undefined) return null;
  const wanted = vehicleType === undefined ? null : caseFold(vehicleType);
  const isOfClass = (vehicle: Vehicle): boolean =>
    vehicleClass === undefined || (classOf(vehicle)?.code ?? 'UNCLASSIFIED') === vehicleClass;
  return (vehicle) => (wanted === null || caseFold(vehicle.vehicleType) === wanted) && isOfClass(vehicle);
}

/** Whether a sensor's vehicles and speeds count at a time. Those of a sensor that is not known always do. */
export function rolesOf(counters: readonly Counter[], choices: readonly Choice[]) {
  const typeOf = new Map(counters.map(({ sensorId, type }) => [sensorId, type]));
  return (sensorId: string, time: number): { hasVolume: boolean; hasSpeeds: boolean } => {
    const type = typeOf.get(sensorId);
    const { volume = null, speeds = null } = choiceAt(choices, time) ?? {};
    const isChosen = (chosen: string | null): boolean =>
      type === undefined || chosen === null || chosen === type;
    return { hasVolume: isChosen(volume), hasSpeeds: isChosen(speeds) };
  };
}

/** Vehicles of one kind in a slot (Unix milliseconds). */
export interface KindCount {
  readonly slot: number;
  readonly kind: Kind;
  readonly volume: number;
}

/** The vehicles of a place by kind, by the sensors that count there. */
export function countByKind(
  { kinds, rows }: Counts,
  counters: readonly Counter[],
  choices: readonly Choice[],
): KindCount[] {
  const roleOf = rolesOf(counters, choices);
  return rows.flatMap(({ slot, sensorId, cells, measures, sums }) => {
    if (!roleOf(sensorId, slot).hasVolume) return [];
    const found: KindCount[] = [];
    // Sums of a cell follow one another.
    for (let n = 0; n < cells.length; ) {
      const cell = cells[n] ?? 0;
      let volume = 0;
      for (; n < cells.length && cells[n] === cell; n++)
        if ((measures[n] ?? measure.SPEEDS) >= measure.UNMEASURED) volume += sums[n] ?? 0;
      const kind = kinds.get(cell);
      if (kind && volume !== 0) found.push({ slot, kind, volume });
    }
    return found;
  });
}

/** Motor vehicles of one kind in a slot (Unix milliseconds) whose speed is above `bin` − 1 km/h and at most `bin`. */
export interface KindSpeed {
  readonly slot: number;
  readonly kind: Kind;
  readonly bin: number;
  readonly count: number;
}

/** The speeds at a place by kind, of the sensors whose speeds count there. */
export function speedsByKind(
  { kinds, rows }: Counts,
  counters: readonly Counter[],
  choices: readonly Choice[],
): KindSpeed[] {
  const roleOf = rolesOf(counters, choices);
  return rows.flatMap(({ slot, sensorId, cells, measures, sums }) => {
    if (!roleOf(sensorId, slot).hasSpeeds) return [];
    return cells.flatMap((cell, n): KindSpeed[] => {
      const [kind, bin = 0, count = 0] = [kinds.get(cell), measures[n], sums[n]];
      return kind?.isMotor && isPlausibleBin(bin) && count !== 0 ? [{ slot, kind, bin, count }] : [];
    });
  });
}

/** A time of which a sensor counted a share, from 0 to 1. */
export interface CountedSpan extends Interval {
  readonly sensorId: string;
  readonly share: number;
}

/**
 * How much of each slot the periods in some rows cover, as `readCountedSpans` says. @param among the only cells that matter;
 * null for all
 */
export function countedSpans(rows: readonly Packed[], among: ReadonlySet<number> | null): CountedSpan[] {
  return bySlot(rows).flatMap((found) => {
    const [first] = found;
    if (first && found.length === 1 && first.share !== null && among === null)
      return spanOf(first, first.share);
    return countedSpan(found, among) ?? [];
  });
}

/** The same by stored shares; null if one is not stored, or a slot is two rows. */
export function storedSpans(rows: readonly Packed[]): CountedSpan[] | null {
  const slots = new Map<string, Set<number>>();
  const spans: CountedSpan[] = [];
  for (const row of rows) {
    if (row.share === null) return null;
    const known = slots.get(row.sensorId) ?? new Set();
    slots.set(row.sensorId, known.add(slotKey(row)));
    spans.push(spanOf(row, row.share));
  }
  return [...slots.values()].reduce((sum, { size }) => sum + size, 0) === rows.length ? spans : null;
}

function spanOf({ sensorId, slot, minutes }: Packed, share: number): CountedSpan {
  return { sensorId, from: slot, until: slot + minutes * MINUTE_MS, share };
}

/** Tells slots of all lengths apart: each begins on five minutes. */
function slotKey({ slot, minutes }: Packed): number {
  return slot + minutes;
}

/** Rows by sensor and slot. What a sensor counted at two locations in a slot is two rows. */
function bySlot(rows: readonly Packed[]): Packed[][] {
  const sensors = new Map<string, Map<number, Packed[]>>();
  for (const row of rows) {
    const slots = sensors.get(row.sensorId) ?? new Map<number, Packed[]>();
    sensors.set(row.sensorId, slots);
    const known = slots.get(slotKey(row));
    if (known) known.push(row);
    else slots.set(slotKey(row), [row]);
  }
  return [...sensors.values()].flatMap((slots) => [...slots.values()]);
}

/** The span of the rows of a slot; null without periods. */
function countedSpan(rows: readonly Packed[], among: ReadonlySet<number> | null): CountedSpan | null {
  const expected = new Map<number, number>();
  let covered = 0;
  for (const { cells, measures, sums } of rows)
    for (let n = 0; n < cells.length; n++) {
      const [cell = 0, what = 0, sum = 0] = [cells[n], measures[n], sums[n]];
      if (what > measure.COVERED || among?.has(cell) === false) continue;
      if (what === measure.EXPECTED) expected.set(cell, (expected.get(cell) ?? 0) + sum);
      else covered += sum;
    }
  const times = [...expected.values()];
  const [sum, longest] = [times.reduce((all, time) => all + time, 0), Math.max(0, ...times)];
  const [row] = rows;
  return row && sum > 0
    ? spanOf(row, (covered / sum) * Math.min(1, longest / (row.minutes * MINUTE_MS)))
    : null;
}

/** The traffic of a place by slot. The arrays are parallel: elements at the same position concern the same slot. */
export interface Rollups {
  /** Unix milliseconds. */
  readonly slots: readonly number[];
  /** Motor vehicles, or those of a certain type. */
  readonly volumes: readonly number[];
  readonly measured: readonly number[];
  /** In metres per hour. */
  readonly speedSums: readonly number[];
  readonly bins: readonly (readonly number[])[];
  readonly counts: readonly (readonly number[])[];
  /** The types of all vehicles, bicycles and pedestrians ('' for none), with their counts. */
  readonly types: readonly (readonly string[])[];
  readonly typeCounts: readonly (readonly number[])[];
}

/**
 * The traffic of a place, by the sensors that count there; a slot may occur several times.
 * @param vehicleType only vehicles of this type, regardless of case; by default motor vehicles
 */
export function rollupsOf(
  { kinds, rows }: Counts,
  counters: readonly Counter[],
  choices: readonly Choice[],
  isWanted: ((vehicle: Vehicle) => boolean) | null,
): Rollups {
  const known = new Map(
    [...kinds].map(([cell, kind]) => [
      cell,
      {
        type: kind.vehicleType,
        counts: isWanted?.(kind) ?? kind.isMotor,
        isListed: isWanted?.(kind) ?? true,
      },
    ]),
  );
  const roleOf = rolesOf(counters, choices);
  const rollups = {
    slots: [] as number[],
    volumes: [] as number[],
    measured: [] as number[],
    speedSums: [] as number[],
    bins: [] as number[][],
    counts: [] as number[][],
    types: [] as string[][],
    typeCounts: [] as number[][],
  };
  const histogram = new Float64Array(MAX_SPEED + 1);
  const used: number[] = [];
  const types = new Map<string, number>();
  for (const { slot, sensorId, cells, measures, sums } of rows) {
    const { hasVolume, hasSpeeds } = roleOf(sensorId, slot);
    if (!hasVolume && !hasSpeeds) continue;
    let [volume, measured, speedSum] = [0, 0, 0];
    types.clear();
    for (let n = 0; n < cells.length; ) {
      // Sums of a cell follow one another, so that its kind is looked up once.
      const cell = cells[n] ?? 0;
      const kind = known.get(cell);
      let [vehicles, isVehicle] = [0, false];
      for (; n < cells.length && cells[n] === cell; n++) {
        const [what = 0, sum = 0] = [measures[n], sums[n]];
        if (what >= measure.UNMEASURED) {
          vehicles += sum;
          isVehicle = true;
          if (!hasSpeeds || !kind?.counts || !isPlausibleBin(what)) continue;
          measured += sum;
          if (histogram[what] === 0) used.push(what);
          histogram[what] = (histogram[what] ?? 0) + sum;
        } else if (what === measure.SPEEDS && hasSpeeds && kind?.counts) speedSum += sum;
      }
      if (!kind || !hasVolume || !isVehicle) continue;
      if (kind.counts) volume += vehicles;
      if (kind.isListed) types.set(kind.type, (types.get(kind.type) ?? 0) + vehicles);
    }
    const { bins, counts } = takeBins(histogram, used);
    rollups.slots.push(slot);
    rollups.volumes.push(volume);
    rollups.measured.push(measured);
    rollups.speedSums.push(speedSum);
    rollups.bins.push(bins);
    rollups.counts.push(counts);
    rollups.types.push([...types.keys()]);
    rollups.typeCounts.push([...types.values()]);
  }
  return rollups;
}

/** The counts by bin that are not zero, in order; both are cleared. @param used the bins that may be such, some of them twice */
function takeBins(histogram: Float64Array, used: number[]): { bins: number[]; counts: number[] } {
  const [bins, counts] = [[] as number[], [] as number[]];
  if (used.length > 1) used.sort((a, b) => a - b);
  for (const bin of used.splice(0)) {
    const count = histogram[bin] ?? 0;
    if (count === 0) continue;
    bins.push(bin);
    counts.push(count);
    histogram[bin] = 0;
  }
  return { bins, counts };
}
