import type { Interval } from '../platform/time.ts';
import {
  type Bin,
  type BinStatus,
  type Cell,
  isMotor,
  joinWithin,
  LEGS,
  type Leg,
  sumCells,
  type Turn,
} from './bin.ts';
import { PEAK_WINDOWS, type Peak, type PeakPart, type PeakWindow, peakHours } from './peak-hours.ts';

/** Motor vehicles of a movement. */
export interface MovementVolume {
  /** The leg that they come from. */
  readonly from: Leg;
  readonly turn: Turn;
  readonly volume: number;
  /** Of the movement in the peak hour of the intersection; only of a peak. */
  readonly peakHourFactor?: number | null;
  /** Of those with a class, by code. */
  readonly byClass: { readonly class: string; readonly volume: number }[];
}

interface LegVolume {
  readonly leg: Leg;
  readonly volume: number;
}

export interface MovementTotals {
  /** Those that were made in the range, by leg (clockwise from the north) and turn (left, through, right, back). */
  readonly movements: MovementVolume[];
  /** Motor vehicles by the leg through which they come. */
  readonly approaches: LegVolume[];
  /** Motor vehicles by the leg through which they leave. Those whose turn is not known are in none. */
  readonly exits: LegVolume[];
  readonly volume: number;
  readonly pedestrians: number;
  readonly bicycles: number;
  readonly pedestriansByLeg: LegVolume[];
  readonly bicyclesByLeg: LegVolume[];
}

export interface TurningMovements {
  readonly bins: {
    readonly start: Date;
    readonly end: Date;
    readonly status: BinStatus;
    readonly coverage: number;
    readonly volume: number | null;
    /** Without those that were not made. */
    readonly movements: MovementVolume[];
    readonly pedestrians: number;
    readonly bicycles: number;
  }[];
  readonly total: MovementTotals;
  /** Of every day of the range. */
  readonly peaks: (Omit<Peak, 'by' | 'volume'> & MovementTotals & { readonly date: string })[];
}

const TURNS: readonly Turn[] = ['L', 'T', 'R', 'U'];
/** How many eighths of a circle, clockwise, the leg through which vehicles leave is from the one they come from. */
const EIGHTHS = { L: 2, T: 4, R: 6, U: 0 } as const satisfies Record<Turn, number>;

/** The leg through which vehicles leave, if turns are at right angles: left from the north is through the east. */
export function exitOf(from: Leg, turn: Turn): Leg {
  return LEGS[(LEGS.indexOf(from) + EIGHTHS[turn]) % LEGS.length] ?? from;
}

export interface TurningOptions {
  readonly windows?: readonly PeakWindow[];
  /** The starts of the intervals that are listed, and the end of the last one; by default, the quarter hours. */
  readonly bounds?: readonly number[];
}

/**
 * A turning movement count.
 * @param bins of 15 minutes, in order
 */
export function turningMovements(
  bins: readonly Bin[],
  range: Interval,
  zone: string,
  { windows = PEAK_WINDOWS, bounds }: TurningOptions = {},
): TurningMovements {
  const known = bins.filter(({ status }) => status !== 'EXCLUDED');
  const layout = layoutOf(known.flatMap(({ cells }) => cells));
  const { days } = peakHours(bins, range, zone, { windows, by: ['movement'] });
  return {
    bins: (bounds ? joinWithin(bins, bounds) : bins).map(({ cells, ...bin }) => ({
      ...bin,
      start: new Date(bin.start),
      end: new Date(bin.end),
      movements: movementsOf(cells),
      pedestrians: volumeOf(ofMode(cells, 'PEDESTRIAN')),
      bicycles: volumeOf(ofMode(cells, 'BICYCLE')),
    })),
    total: totalsOf(known, layout),
    peaks: days.flatMap(({ date, windows: peaks }) =>
      peaks.flatMap(({ by, ...peak }) => {
        const [from, until] = [peak.start?.getTime() ?? 0, peak.end?.getTime() ?? 0];
        const hour = bins.filter(({ start, end }) => start >= from && end <= until);
        if (hour.length === 0) return [];
        const totals = totalsOf(hour, layout);
        return [{ ...peak, date, ...totals, movements: withFactors(totals.movements, by) }];
      }),
    ),
  };
}

/** The legs and movements that are listed: those of the whole range, so that every list of it has the same. */
interface Layout {
  readonly legs: readonly Leg[];
  readonly movements: readonly MovementVolume[];
}

function layoutOf(cells: readonly Cell[]): Layout {
  const movements = movementsOf(cells);
  const used = new Set<Leg>(cells.flatMap(({ movement }) => (movement ? [movement.from] : [])));
  for (const { from, turn } of movements) used.add(exitOf(from, turn));
  return { legs: LEGS.filter((leg) => used.has(leg)), movements };
}

/** The movements that were made. */
function movementsOf(cells: readonly Cell[]): MovementVolume[] {
  const turning = cells.filter((cell) => isMotor(cell) && cell.movement?.turn);
  const classes = sumCells(turning, ['movement', 'class']).filter(({ volume }) => volume > 0);
  return sumCells(turning, ['movement'])
    .flatMap(({ movement, volume }) => {
      const { from, turn } = movement ?? {};
      if (!from || !turn || volume === 0) return [];
      const byClass = classes
        .filter((part) => part.movement?.from === from && part.movement.turn === turn)
        .flatMap((part) => (part.class ? [{ class: part.class.code, volume: part.volume }] : []))
        .sort((a, b) => (a.class < b.class ? -1 : 1));
      return [{ from, turn, volume, byClass }];
    })
    .sort(
      (a, b) => LEGS.indexOf(a.from) - LEGS.indexOf(b.from) || TURNS.indexOf(a.turn) - TURNS.indexOf(b.turn),
    );
}

function totalsOf(bins: readonly Bin[], { legs, movements: listed }: Layout): MovementTotals {
  const cells = bins.flatMap((bin) => bin.cells);
  const made = movementsOf(cells);
  const isSame = (a: MovementVolume, b: MovementVolume): boolean => a.from === b.from && a.turn === b.turn;
  const movements = listed.map(
    (one) => made.find((each) => isSame(each, one)) ?? { ...one, volume: 0, byClass: [] },
  );
  const byLeg = (some: readonly Cell[]): LegVolume[] =>
    legs.map((leg) => ({ leg, volume: volumeOf(some.filter(({ movement }) => movement?.from === leg)) }));
  return {
    movements,
    approaches: byLeg(cells.filter(isMotor)),
    exits: legs.map((leg) => ({
      leg,
      volume: movements.reduce(
        (sum, { from, turn, volume }) => sum + (exitOf(from, turn) === leg ? volume : 0),
        0,
      ),
    })),
    volume: bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0),
    pedestrians: volumeOf(ofMode(cells, 'PEDESTRIAN')),
    bicycles: volumeOf(ofMode(cells, 'BICYCLE')),
    pedestriansByLeg: byLeg(ofMode(cells, 'PEDESTRIAN')),
    bicyclesByLeg: byLeg(ofMode(cells, 'BICYCLE')),
  };
}

function withFactors(movements: readonly MovementVolume[], parts: readonly PeakPart[]): MovementVolume[] {
  return movements.map((each) => {
    const part = parts.find(({ movement }) => movement?.from === each.from && movement.turn === each.turn);
    return { ...each, peakHourFactor: part?.peakHourFactor ?? null };
  });
}

function ofMode(cells: readonly Cell[], mode: 'PEDESTRIAN' | 'BICYCLE'): Cell[] {
  return cells.filter((cell) => cell.class?.mode === mode);
}

function volumeOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { volume }) => sum + volume, 0);
}
