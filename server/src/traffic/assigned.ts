import type { EventType } from '@gantry/contract/events';
import type { MeasuringPoint, StoredChannel } from '@gantry/contract/points';
import { type Interval, slotOf } from '../platform/time.ts';
import { hasDirection, isInChannel, type Passed, specificity } from './channels.ts';
import { source } from './passed-store.ts';
import { type Counts, isPlausibleBin, type Kind, measure, type Packed } from './slots-store.ts';
import { KMH_PER_MPH, MAX_SPEED } from './speed-sample.ts';
import type { Passage, SingleVehicle } from './vehicles-store.ts';

// What sensors counted and measured for measuring points: the part of their counts in the channels that are assigned, with
// the direction, lane and movement of the point, and speeds along the road.

/** An assignment, for the slots of five minutes in which it and its point are valid. */
export interface Assigned extends Interval {
  readonly id: string;
  readonly pointId: string;
  readonly sensorId: string;
  readonly role: 'COUNT' | 'SPEED' | 'VERIFY';
  readonly channel: StoredChannel;
  readonly lane: string | null;
  readonly movement: string | null;
  readonly countedTypes: readonly EventType[] | null;
  /** Degrees. */
  readonly correctionAngle: number;
  readonly speedUnit: 'KMH' | 'MPH' | null;
  readonly point: Pick<MeasuringPoint, 'direction' | 'bearing'>;
  /** Whether it is to a point that is asked for; others only say which channels `*` leaves out. */
  readonly isHere: boolean;
}

/** An assignment in a time in which the same ones hold. */
export interface Detector extends Interval {
  readonly assigned: Assigned;
  /** The other assignments of its sensor with its role that hold then. */
  readonly rivals: readonly Assigned[];
  /** Of one that counts: what measures the speeds of its point instead. */
  readonly speeds: readonly Assigned[];
}

const isForSpeeds = ({ role }: Assigned): boolean => role === 'SPEED';

/** Whether a detector counts vehicles, instead of measuring speeds only. */
export function isForVolumes({ assigned }: Detector): boolean {
  return !isForSpeeds(assigned);
}

/** The times in which both hold; each of them in order. */
export function common(some: readonly Interval[], others: readonly Interval[]): Interval[] {
  return some.flatMap((one) =>
    others.flatMap((other) => {
      const [from, until] = [Math.max(one.from, other.from), Math.min(one.until, other.until)];
      return from < until ? [{ from, until }] : [];
    }),
  );
}

/** The detectors of a place in a range, one for each time between two changes of the assignments. */
export function detectorsOf(assignments: readonly Assigned[], range: Interval): Detector[] {
  const changes = assignments.flatMap(({ from, until }) => [from, until]);
  const cuts = [...new Set([range.from, ...changes, range.until])]
    .filter((at) => at >= range.from && at <= range.until)
    .sort((a, b) => a - b);
  return cuts.slice(1).flatMap((until, n) => {
    const from = cuts[n] ?? until;
    const held = assignments.filter((each) => each.from < until && each.until > from);
    return held.flatMap((assigned): Detector[] => {
      if (!assigned.isHere || assigned.role === 'VERIFY') return [];
      const rivals = held.filter(
        (other) => other !== assigned && other.sensorId === assigned.sensorId && other.role === assigned.role,
      );
      const speeds = isForSpeeds(assigned)
        ? []
        : held.filter((other) => isForSpeeds(other) && other.pointId === assigned.pointId);
      return [{ assigned, rivals, speeds, from, until }];
    });
  });
}

/** Whether a passage is in a channel of a point, as far as its direction is known. */
function fits({ channel, point }: Assigned, passed: Passed): boolean {
  return isInChannel(channel, passed) && hasDirection(point, passed.direction);
}

/**
 * The direction of the point to which a sensor is assigned at a time, if that of a passage is none of its points'; null if
 * it may be.
 */
export function foreignDirection(
  assignments: readonly Assigned[],
  time: number,
  passed: Pick<Kind, 'direction' | 'lane' | 'movement'>,
): string | null {
  if (passed.direction === '') return null;
  const named = assignments.filter(
    ({ role, from, until, channel }) =>
      role === 'COUNT' && time >= from && time < until && isInChannel(channel, passed),
  );
  const [first] = named;
  return named.some(({ point }) => hasDirection(point, passed.direction))
    ? null
    : (first?.point.direction ?? null);
}

/** Whether what passed so is of a detector: of several channels, the one that says most has it. */
function has({ assigned, rivals }: Detector, passed: Passed): boolean {
  if (!fits(assigned, passed)) return false;
  const own = specificity(assigned.channel);
  return !rivals.some((rival) => {
    const other = specificity(rival.channel);
    return (other > own || (other === own && rival.id < assigned.id)) && fits(rival, passed);
  });
}

/** Whether the volumes of a detector can be read without the kinds of vehicles. */
export function isOfAllKinds({ assigned, rivals }: Detector): boolean {
  return (
    specificity(assigned.channel) === 0 &&
    rivals.length === 0 &&
    assigned.point.direction === 'BOTH' &&
    assigned.countedTypes === null
  );
}

/** The cells that a detector counts. */
export function cellsOf(detector: Detector, kinds: Counts['kinds']): number[] {
  return [...kinds].flatMap(([cell, kind]) => (has(detector, kind) ? [cell] : []));
}

/** What is read of sensors at once. */
export interface Reading {
  readonly detectors: readonly Detector[];
  readonly counting: readonly { readonly sensorId: string; readonly source: number }[];
  /** Which vehicles count, by the types of their events (as in kinds); null for all. */
  readonly isCounted: ((eventType: string) => boolean) | null;
}

const SOURCES: readonly (readonly [source: number, types: readonly EventType[]])[] = [
  [source.DETECTION, ['VEHICLE_DETECTION', 'SPEED_DETECTION']],
  [source.PLATE, ['PLATE_RECOGNITION']],
  [source.OTHER, ['TRAFFIC_VIOLATION', 'SEATBELT_VIOLATION']],
];

/**
 * What has to be read for detectors.
 * @param sourceOf what a sensor counts if its assignment does not say it; null for nothing
 */
export function readingsOf(
  detectors: readonly Detector[],
  sourceOf: (sensorId: string) => number | null,
): Reading[] {
  const groups = groupsBy(detectors, ({ assigned }) => JSON.stringify(assigned.countedTypes));
  return [...groups.values()].flatMap((group): Reading[] => {
    const ids = [...new Set(group.map(({ assigned }) => assigned.sensorId))];
    const counted = group[0]?.assigned.countedTypes ?? null;
    if (counted === null) {
      const counting = ids.flatMap((sensorId) => {
        const usual = sourceOf(sensorId);
        return usual === null ? [] : [{ sensorId, source: usual }];
      });
      const isCounting = ({ assigned }: Detector): boolean => sourceOf(assigned.sensorId) !== null;
      return counting.length === 0
        ? []
        : [{ detectors: group.filter(isCounting), counting, isCounted: null }];
    }
    return SOURCES.flatMap(([from, types]): Reading[] => {
      const wanted = types.filter((type) => counted.includes(type));
      if (wanted.length === 0) return [];
      const counting = ids.map((sensorId) => ({ sensorId, source: from }));
      return [{ detectors: group, counting, isCounted: countsOnce(wanted, counted) }];
    });
  });
}

/**
 * Whether a vehicle counts in the reading of some types of one source. One with events of several sources is in each of them, and counts in the
 * first of those that count.
 * @param own the types of the source that count, and `all` those of all sources
 */
function countsOnce(own: readonly EventType[], all: readonly EventType[]): (eventType: string) => boolean {
  const inOrder = SOURCES.flatMap(([, types]) => types).filter((type) => all.includes(type));
  return (eventType) => {
    if (eventType === '') return own.some((type) => USUAL_TYPES.includes(type));
    const types = eventType.split('+');
    const first = inOrder.find((type) => types.includes(type));
    return first !== undefined && own.includes(first);
  };
}

/** The items by a key, in their order. */
export function groupsBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const USUAL_TYPES: readonly EventType[] = ['VEHICLE_DETECTION', 'PLATE_RECOGNITION'];

/** How the vehicles of a kind pass the point of a detector. */
function kindAt<As extends Passed>({ assigned: { point, lane, movement } }: Detector, kind: As): As {
  return {
    ...kind,
    direction: point.direction === 'BOTH' ? kind.direction : point.direction,
    lane: lane ?? kind.lane,
    movement: movement ?? kind.movement,
  };
}

/** Whether the speeds of vehicles, as they pass a point, are those that a detector measured. */
function hasSpeeds({ speeds }: Detector, { lane, movement }: Kind): boolean {
  const agree = (one: string | null, other: string): boolean => one === null || other === '' || one === other;
  return !speeds.some((other) => agree(other.lane, lane) && agree(other.movement, movement));
}

/** Finds the detectors of a sensor at a time. */
function findDetectors(detectors: readonly Detector[]) {
  const bySensor = groupsBy(detectors, ({ assigned }) => assigned.sensorId);
  return (sensorId: string, time: number): readonly Detector[] =>
    bySensor.get(sensorId)?.filter(({ from, until }) => time >= from && time < until) ?? [];
}

/**
 * The counts of sensors as those of the points to which they are assigned. Rows must not overlap a change of the
 * assignments. What only measures speeds has no volume.
 */
export function assignedCounts(
  counts: Counts,
  { detectors, isCounted }: Pick<Reading, 'detectors' | 'isCounted'>,
): Counts {
  const kinds = new Map<number, Kind>();
  const known = new Map<string, number>();
  const cellOf = (kind: Kind): number => {
    const key = JSON.stringify(kind);
    const cell = known.get(key) ?? MAX_CELLS + known.size;
    known.set(key, cell);
    kinds.set(cell, kind);
    return cell;
  };
  const plans = new Map(
    detectors.map((detector): [Detector, Plan] => {
      const plan: Plan = new Map();
      for (const [cell, kind] of counts.kinds) {
        if (!has(detector, kind) || isCounted?.(kind.eventType) === false) continue;
        const to = kindAt(detector, kind);
        plan.set(cell, { cell: cellOf(to), isMeasured: hasSpeeds(detector, to) });
      }
      return [detector, plan];
    }),
  );
  const find = findDetectors(detectors);
  const rows = counts.rows.flatMap((row) =>
    find(row.sensorId, row.slot).map((detector) =>
      assignedRow(row, detector, plans.get(detector) ?? new Map()),
    ),
  );
  return { kinds, rows };
}

/** What becomes of the cells that a detector counts. */
type Plan = Map<number, { readonly cell: number; readonly isMeasured: boolean }>;

/** Cells get numbers of their own, above those in the database. */
const MAX_CELLS = 2 ** 32;

/** Counts that were read or made apart, in which cells that are not in the database have the same numbers. */
export function joinCounts(all: readonly Counts[]): Counts {
  const [first, ...others] = all;
  if (first && others.length === 0) return first;
  const numbered = all.map(({ kinds, rows }, n): Counts => {
    const cellOf = (cell: number): number =>
      cell < 0 ? cell - n * MAX_CELLS : cell >= MAX_CELLS ? cell + n * MAX_CELLS : cell;
    return {
      kinds: new Map([...kinds].map(([cell, kind]) => [cellOf(cell), kind])),
      rows: n === 0 ? rows : rows.map((row) => ({ ...row, cells: row.cells.map(cellOf) })),
    };
  });
  return {
    kinds: new Map(numbered.flatMap(({ kinds }) => [...kinds])),
    rows: numbered.flatMap(({ rows }) => rows),
  };
}

function assignedRow(row: Packed, { assigned }: Detector, plan: Plan): Packed {
  const found = new Map<number, CellSums>();
  for (const [n, cell] of row.cells.entries()) {
    if (!plan.has(cell)) continue;
    const sums = found.get(cell) ?? { bins: new Map(), unmeasured: 0, speeds: 0, squares: 0 };
    found.set(cell, sums);
    const [what = 0, sum = 0] = [row.measures[n], row.sums[n]];
    if (isPlausibleBin(what)) sums.bins.set(what, (sums.bins.get(what) ?? 0) + sum);
    else if (what >= measure.UNMEASURED) sums.unmeasured += sum;
    else if (what === measure.SPEEDS) sums.speeds += sum;
    else if (what === measure.SQUARES) sums.squares += sum;
  }
  const [cells, measures, sums] = [[] as number[], [] as number[], [] as number[]];
  for (const [from, given] of found) {
    const { cell = from, isMeasured = true } = plan.get(from) ?? {};
    const put = (what: number, sum: number): void => {
      if (sum === 0) return;
      cells.push(cell);
      measures.push(what);
      sums.push(sum);
    };
    const total = [...given.bins.values()].reduce((all, n) => all + n, given.unmeasured);
    const { bins, speeds, squares } = isMeasured ? alongRoad(given, assigned) : NO_SPEEDS;
    let measured = 0;
    for (const [bin, n] of bins) {
      put(bin, n);
      measured += n;
    }
    put(measure.UNMEASURED, (isForSpeeds(assigned) ? 0 : total) - measured);
    put(measure.SPEEDS, speeds);
    put(measure.SQUARES, squares);
  }
  return { ...row, cells, measures, sums };
}

/** The sums of a cell: vehicles by km/h, those without a speed, and sums as in `traffic_bins`. */
interface CellSums {
  readonly bins: Map<number, number>;
  unmeasured: number;
  speeds: number;
  squares: number;
}

const NO_SPEEDS: Pick<CellSums, 'bins' | 'speeds' | 'squares'> = { bins: new Map(), speeds: 0, squares: 0 };

/**
 * Speeds along the road, from those in the direction of the beam. Where it is known that each of them is a whole unit, each
 * is corrected by itself. Otherwise the vehicles of a km/h are spread evenly over what it becomes; their sum is exact.
 */
function alongRoad(
  { bins, speeds, squares }: CellSums,
  { correctionAngle, speedUnit }: Assigned,
): Pick<CellSums, 'bins' | 'speeds' | 'squares'> {
  if (correctionAngle === 0 && speedUnit !== 'MPH') return { bins, speeds, squares };
  const cosine = cosineOf(correctionAngle);
  const isWhole = speeds === [...bins].reduce((sum, [bin, n]) => sum + 1_000 * bin * n, 0);
  const isExact = speedUnit === 'MPH' || isWhole;
  const corrected = {
    bins: new Map<number, number>(),
    speeds: isExact ? 0 : speeds / cosine,
    squares: isExact ? 0 : squares / cosine ** 2,
  };
  const put = (bin: number, n: number): void => {
    if (n !== 0 && bin <= MAX_SPEED) corrected.bins.set(bin, (corrected.bins.get(bin) ?? 0) + n);
  };
  for (const [bin, n] of bins) {
    if (isExact) {
      const speed = (speedUnit === 'MPH' ? wholeMiles(bin - 0.5) : bin) / cosine;
      put(binOf(speed), n);
      if (speed > MAX_SPEED) continue;
      corrected.speeds += 1_000 * speed * n;
      corrected.squares += (100 * speed) ** 2 * n;
      continue;
    }
    const [low, high] = [(bin - 1) / cosine, bin / cosine];
    let before = 0;
    for (let to = Math.floor(low) + 1; before !== n; to++) {
      const upTo = Math.round((n * (Math.min(to, high) - low)) / (high - low));
      put(to, upTo - before);
      if (to > MAX_SPEED) {
        corrected.speeds -= 1_000 * (to - 0.5) * (upTo - before);
        corrected.squares -= (100 * to - 50) ** 2 * (upTo - before);
      }
      before = upTo;
    }
  }
  return {
    bins: corrected.bins,
    speeds: Math.round(corrected.speeds),
    squares: Math.round(corrected.squares),
  };
}

function cosineOf(degrees: number): number {
  return Math.cos((degrees * Math.PI) / 180);
}

/** The bin of a speed in km/h. What is above it by less than 1 m/h is due to the arithmetic. */
function binOf(speed: number): number {
  return Math.max(1, Math.ceil(speed - 0.001));
}

/** The whole mph (in km/h) nearest to a speed in km/h. */
function wholeMiles(speed: number): number {
  return Math.round(speed / KMH_PER_MPH) * KMH_PER_MPH;
}

/** The vehicles whose speeds are those of points, with their speeds along the road. */
export function assignedVehicles(
  vehicles: readonly SingleVehicle[],
  { detectors, isCounted }: Pick<Reading, 'detectors' | 'isCounted'>,
): SingleVehicle[] {
  const find = findDetectors(detectors);
  return vehicles.flatMap((vehicle) => {
    if (isCounted?.(vehicle.eventType) === false) return [];
    return find(vehicle.sensorId, vehicle.slot).flatMap((detector) => {
      if (!has(detector, vehicle) || !hasSpeeds(detector, kindAt(detector, vehicle))) return [];
      const { correctionAngle, speedUnit } = detector.assigned;
      const measured = speedUnit === 'MPH' ? wholeMiles(vehicle.speed) : vehicle.speed;
      const speed = measured / cosineOf(correctionAngle);
      return speed <= MAX_SPEED ? [{ ...vehicle, speed }] : [];
    });
  });
}

/** What one of these detectors counts at a time, as it passes the point; nothing if none does. */
export function passedAt<As extends Passed>(detectors: readonly Detector[], passed: As, time: number): As[] {
  return detectors
    .filter((detector) => time >= detector.from && time < detector.until && has(detector, passed))
    .map((detector) => kindAt(detector, passed));
}

/** The vehicles that count for points, as they pass them. */
export function assignedPassages(
  vehicles: readonly Passage[],
  { detectors, isCounted }: Pick<Reading, 'detectors' | 'isCounted'>,
): Passage[] {
  const find = findDetectors(detectors.filter(isForVolumes));
  return vehicles.flatMap((vehicle) => {
    if (isCounted?.(vehicle.eventType) === false) return [];
    return find(vehicle.sensorId, vehicle.slot).flatMap((detector) =>
      has(detector, vehicle) ? [{ ...vehicle, ...kindAt(detector, vehicle) }] : [],
    );
  });
}

/** The slots in which an assignment holds; null for none. @param ends of it and of its point, null for open ones */
export function heldSlots(
  ...ends: readonly { readonly validFrom: Date | null; readonly validUntil: Date | null }[]
): Interval | null {
  const from = Math.max(
    ...ends.map(({ validFrom }) => (validFrom ? slotOf(validFrom.getTime()) : Number.NEGATIVE_INFINITY)),
  );
  const until = Math.min(
    ...ends.map(({ validUntil }) => (validUntil ? slotOf(validUntil.getTime()) : Number.POSITIVE_INFINITY)),
  );
  return from < until ? { from, until } : null;
}
