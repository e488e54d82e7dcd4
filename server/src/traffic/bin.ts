import type { Direction as Reported } from '@gantry/contract/movements';

/**
 * What is known about the count of an interval:
 *
 * - `VALID`: the interval is over, and at least 95 % of it is covered.
 * - `PROVISIONAL`: it is not over.
 * - `PARTIAL`: it is over, and less than 95 % of it is covered; the volume is the count of what is known.
 * - `GAP`: it is over, and nothing is known.
 * - `EXCLUDED`: its data were rejected.
 * - `INSUFFICIENT`: there are fewer observations than the figure needs.
 * - `IMPUTED`: the value was estimated from other intervals.
 */
export type BinStatus = 'VALID' | 'PROVISIONAL' | 'PARTIAL' | 'GAP' | 'EXCLUDED' | 'INSUFFICIENT' | 'IMPUTED';

/** The direction at a measuring point, or as a sensor reported it. */
export type Direction = Reported | 'BOTH';

/** The legs of an intersection by the side on which they lie, clockwise. */
export const LEGS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const;
export type Leg = (typeof LEGS)[number];

/** Left, through, right, and back. */
export type Turn = 'L' | 'T' | 'R' | 'U';

/** How road users pass an intersection. Without a turn it is a count by leg, as of pedestrians and bicycles. */
export interface Movement {
  /** The leg that the road user comes from. */
  readonly from: Leg;
  readonly turn?: Turn;
}

/** A class of a scheme, with what figures need to know about it. */
export interface VehicleClass {
  readonly code: string;
  readonly mode: 'MOTOR' | 'BICYCLE' | 'PEDESTRIAN' | 'OTHER';
  readonly isHeavy: boolean;
}

/** A part of the count of a bin. */
export interface Cell {
  readonly direction?: Direction;
  /** 1 to 16, or the name that the device gives the lane. */
  readonly lane?: number | string;
  /** Without a class, these are motor vehicles. */
  readonly class?: VehicleClass;
  readonly movement?: Movement;
  readonly volume: number;
}

/** The volume of a place in an interval. */
export interface Count {
  /** Unix milliseconds, inclusive. */
  readonly start: number;
  /** Unix milliseconds, exclusive. */
  readonly end: number;
  readonly status: BinStatus;
  /** The fraction of the interval with known counts, from 0 to 1. */
  readonly coverage: number;
  /** Motor vehicles; null if nothing is known or all was rejected. */
  readonly volume: number | null;
  /** Whether it is an hour with a gap that is too long for its usual volume (R2), and so in no mean. */
  readonly hasLongGap?: boolean;
}

/** The traffic of a place in an interval. */
export interface Bin extends Count {
  /** The parts of the count, which also contain pedestrians and bicycles. */
  readonly cells: readonly Cell[];
}

/** A figure with the number of observations behind it. */
export interface Figure {
  /** Null if the figure cannot be given, and `reason` says why. */
  readonly value: number | null;
  readonly n: number;
  readonly status: BinStatus;
  readonly reason: string | null;
}

/** The coverage from which the count of an interval is complete. */
export const COMPLETE_COVERAGE = 0.95;

/**
 * The status of an interval. Vehicles that were counted while no sensor was known to work are a part of the count, not
 * a gap.
 * @param volume the vehicles that were counted
 */
export function binStatus({
  isOver,
  coverage,
  isExcluded = false,
  volume = 0,
}: {
  readonly isOver: boolean;
  readonly coverage: number;
  readonly isExcluded?: boolean;
  readonly volume?: number;
}): BinStatus {
  if (isExcluded) return 'EXCLUDED';
  if (!isOver) return 'PROVISIONAL';
  if (coverage >= COMPLETE_COVERAGE) return 'VALID';
  return coverage > 0 || volume > 0 ? 'PARTIAL' : 'GAP';
}

/** Whether road users of a cell are counted in the volume of its bin. */
export function isMotor({ class: vehicleClass }: Pick<Cell, 'class'>): boolean {
  return vehicleClass === undefined || vehicleClass.mode === 'MOTOR';
}

/** The parts of a count that a figure may list. */
export type Dimension = 'direction' | 'lane' | 'class' | 'movement';

/** The sums of cells that agree in all given dimensions, in the order of their first appearance. */
export function sumCells(cells: readonly Cell[], by: readonly Dimension[]): Cell[] {
  if (cells.length === 0) return [];
  const sums = new Map<string, Cell & { volume: number }>();
  for (const cell of cells) {
    const key = partKey(cell, by);
    const sum = sums.get(key);
    if (sum) sum.volume += cell.volume;
    else sums.set(key, { ...pickDimensions(cell, by), volume: cell.volume });
  }
  return [...sums.values()];
}

/** What a cell says about some dimensions. */
export function pickDimensions(cell: Partial<Cell>, by: readonly Dimension[]): Omit<Cell, 'volume'> {
  return Object.fromEntries(by.flatMap((name) => (cell[name] === undefined ? [] : [[name, cell[name]]])));
}

/** All of them. */
export const DIMENSIONS: readonly Dimension[] = ['direction', 'lane', 'class', 'movement'];

/** What tells cells apart in some dimensions. A month has many thousand cells, and this is quicker than `cellKey`. */
function partKey({ direction, lane, class: of, movement }: Cell, by: readonly Dimension[]): string {
  let key = '';
  for (const name of by)
    if (name === 'direction') key += `${direction}\n`;
    else if (name === 'lane') key += typeof lane === 'string' ? `${JSON.stringify(lane)}\n` : `${lane}\n`;
    else if (name === 'class') key += of ? `${of.code} ${of.mode}\n` : '\n';
    else key += movement ? `${movement.from} ${movement.turn}\n` : '\n';
  return key;
}

/** What a cell is a part of, by which cells are ordered: equal for cells that agree in all dimensions. */
export function cellKey(cell: Partial<Cell>): string {
  const { from, turn } = cell.movement ?? {};
  return JSON.stringify([cell.direction, cell.lane, cell.class?.code, cell.class?.mode, from, turn]);
}

/** One bin for successive ones, of which there is at least one. Rejected counts are unknown in their sum. */
export function joinBins(bins: readonly Bin[]): Bin {
  const used = bins.filter(({ status }) => status !== 'EXCLUDED');
  const cells = used.flatMap((bin) => bin.cells);
  return { ...joinCounts(bins), cells: sumCells(cells, DIMENSIONS) };
}

/** One bin for those that begin between two successive bounds, if there are any. */
export function joinWithin(bins: readonly Bin[], bounds: readonly number[]): Bin[] {
  return bounds.slice(1).flatMap((until, n) => {
    const within = bins.filter(({ start }) => start >= (bounds[n] ?? until) && start < until);
    return within.length === 0 ? [] : [joinBins(within)];
  });
}

/** As `joinBins`, without the parts. */
export function joinCounts(counts: readonly Count[]): Count {
  const [only] = counts;
  if (only && counts.length === 1 && only.status !== 'EXCLUDED') return only;
  let [length, covered, sum, used, known] = [0, 0, 0, 0, 0];
  let [isImputed, isOver, hasLongGap] = [false, true, false];
  for (const { start, end, status, coverage, volume, hasLongGap: isLong } of counts) {
    length += end - start;
    if (status === 'PROVISIONAL') isOver = false;
    if (isLong) hasLongGap = true;
    if (status === 'EXCLUDED') continue;
    used++;
    covered += coverage * (end - start);
    if (status === 'IMPUTED') isImputed = true;
    if (volume === null) continue;
    known++;
    sum += volume;
  }
  const [volume, coverage, isExcluded] = [known > 0 ? sum : null, covered / length, used === 0];
  return {
    start: counts[0]?.start ?? 0,
    end: counts.at(-1)?.end ?? 0,
    status: isImputed ? 'IMPUTED' : binStatus({ isOver, coverage, isExcluded, volume: volume ?? 0 }),
    coverage,
    volume,
    ...(hasLongGap && { hasLongGap: true }),
  };
}

/** The time with known counts, in milliseconds. */
export function coveredOf(counts: readonly Count[]): number {
  return counts.reduce(
    (sum, { start, end, status, coverage }) => sum + (status === 'EXCLUDED' ? 0 : coverage * (end - start)),
    0,
  );
}

/** Rounded half up to a number of decimals. Means and products such as 1.005 · 100 are not exact, and must not fall below the half. */
export function roundTo(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  return Math.floor(value * scale + 0.5 + 1e-9) / scale;
}
