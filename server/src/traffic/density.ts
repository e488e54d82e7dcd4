import { HOUR_MS } from '@gantry/contract/durations';
import type { DensityInput, DensityOfPlace } from '@gantry/contract/headways';
import type { SpeedUnits } from '@gantry/contract/values';
import { directionOfText, laneOfText } from '../events/passage-columns.ts';
import { invalidInput } from '../platform/error.ts';
import { requireRange } from '../platform/time.ts';
import { type Bin, type Cell, cellKey, isMotor, roundTo, sumCells } from './bin.ts';
import type { Traffic } from './figures.ts';
import { bucketsOf } from './flow.ts';
import { readSurroundings } from './quality/surroundings.ts';
import { localBounds, minutesOf, requireFewPoints } from './range.ts';
import { indexOf } from './segments.ts';
import { KMH_PER_MPH } from './speed-sample.ts';
import { type Configured, unitsOf } from './studies.ts';
import { MAX_PASSED } from './vehicles-store.ts';
import { readBins } from './volumes.ts';

// Density: the number of vehicles on a length of a lane.

type Bins = DensityOfPlace['bins'];
type Figures = Omit<Bins[number], 'start' | 'end' | 'status' | 'coverage' | 'volume' | 'byLane'>;

/** Speeds by whole km/h, rounded up. */
type SpeedCounts = ReadonlyMap<number, number>;

/** What is known of some lanes in an interval. */
interface Measured {
  readonly volume: number | null;
  /** Hours of which the volume is known. */
  readonly hours: number;
  readonly speeds: SpeedCounts;
  /** How far speeds are below their whole km/h on average. */
  readonly below: number;
  /** Percent, of each lane on average. */
  readonly occupancy: number | null;
  /** The number of lanes; null if it is not known. */
  readonly lanes: number | null;
}

interface Options {
  readonly units: SpeedUnits;
  /** The length of the detection field and a vehicle, in metres. */
  readonly fieldLength?: number | undefined;
}

/** The harmonic mean of speeds, in km/h; null without any. */
export function spaceMeanSpeed(speeds: SpeedCounts, below: number): number | null {
  let [n, sum] = [0, 0];
  for (const [bin, count] of speeds) {
    n += count;
    sum += count / (bin - below);
  }
  return n === 0 ? null : n / sum;
}

/** The density of some lanes in an interval: flow / space mean speed, and otherwise occupancy / (100 · length of the field). */
export function densityOf(known: Measured, { units, fieldLength }: Options): Figures {
  const { volume, hours, speeds, below, occupancy, lanes } = known;
  const perUnit = units === 'MPH' ? KMH_PER_MPH : 1;
  const flow = volume === null || hours === 0 ? null : volume / hours;
  const speed = spaceMeanSpeed(speeds, below);
  const figures = {
    flow: flow === null ? null : Math.round(flow),
    measured: [...speeds.values()].reduce((sum, count) => sum + count, 0),
    spaceMeanSpeed: speed === null ? null : roundTo(speed / perUnit, 1),
    occupancy: occupancy === null ? null : roundTo(occupancy, 1),
  };
  const none = (reason: string): Figures => ({ ...figures, density: null, basis: null, reason });
  if (flow === null) return none('Nothing is known');
  if (speed !== null && lanes === null)
    return none('The number of lanes is not known: enter it at the measuring point');
  if (speed !== null && lanes !== null)
    return {
      ...figures,
      density: roundTo((flow / lanes / speed) * perUnit, 1),
      basis: 'SPEEDS',
      reason: null,
    };
  if (flow === 0) return { ...figures, density: 0, basis: 'SPEEDS', reason: null };
  if (occupancy === null || fieldLength === undefined)
    return none(
      fieldLength === undefined
        ? 'No vehicle has a speed; with a fieldLength, the density follows from the occupancy'
        : 'No vehicle has a speed, and no occupancy is known',
    );
  const density = (occupancy / 100 / (fieldLength / 1_000)) * perUnit;
  return { ...figures, density: roundTo(density, 1), basis: 'OCCUPANCY', reason: null };
}

/**
 * The density at a place by interval, of the whole place and of each lane that is reported.
 * @throws AppError `notFound`; `badRequest` for a range that ends before it starts, or has too many intervals
 */
export async function getDensity(parts: Configured, input: DensityInput): Promise<DensityOfPlace> {
  const { timezone } = parts.settings.current();
  const minutes = minutesOf[input.interval];
  const range = requireRange(input, timezone);
  requireFewPoints(range, minutes);
  const units = await unitsOf(parts, input, input.units);
  const { place, traffic, bins } = await readBins(parts, input, range, minutes, { detail: 'speeds' });
  const bounds = localBounds(range, minutes, timezone);
  const entered = await readSurroundings(parts.db, place, Math.min(range.until, parts.clock.now()));
  const lanes = lanesOf(bins) ?? entered.whole.lanes;
  const { fieldLength } = input;
  const occupancies = fieldLength === undefined ? null : await readOccupancies(traffic, bounds, bins);
  const speeds = speedsByLane(traffic, bounds);
  const belows = bucketsOf(traffic.rollups, bounds, []).map(
    ({ speeds: { measured, speedSum, histogram } }) =>
      measured === 0
        ? 0
        : histogram.bins.reduce((sum, bin, i) => sum + bin * (histogram.counts[i] ?? 0), -speedSum / 1_000) /
          measured,
  );
  return {
    timezone,
    interval: input.interval,
    units,
    lanes,
    bins: bins.map(({ start, end, status, coverage, volume, cells }, n) => {
      const hours = (coverage * (end - start)) / HOUR_MS;
      const here = { hours, below: belows[n] ?? 0 };
      const byLane = laneParts(cells).map(({ volume: own, ...lane }) => {
        const key = cellKey(lane);
        return {
          ...lane,
          ...densityOf(
            {
              ...here,
              volume: own,
              speeds: speeds[n]?.get(key) ?? new Map(),
              occupancy: occupancies?.[n]?.get(key) ?? null,
              lanes: 1,
            },
            { units, fieldLength },
          ),
        };
      });
      const all = [...(occupancies?.[n]?.values() ?? [])];
      const whole = {
        ...here,
        volume,
        speeds: sumOfCounts([...(speeds[n]?.values() ?? [])]),
        occupancy: all.length === 0 ? null : all.reduce((sum, each) => sum + each, 0) / all.length,
        lanes,
      };
      return {
        start: new Date(start),
        end: new Date(end),
        status,
        coverage,
        volume,
        ...densityOf(whole, { units, fieldLength }),
        byLane,
      };
    }),
  };
}

type LanePart = Pick<Cell, 'direction' | 'lane'>;

/** The motor vehicles of each reported lane. */
function laneParts(cells: readonly Cell[]): (LanePart & { volume: number })[] {
  return sumCells(cells.filter(isMotor), ['direction', 'lane']).filter(({ lane }) => lane !== undefined);
}

/** The number of lanes in which vehicles were counted; null if the lane of any is not known. */
function lanesOf(bins: readonly Bin[]): number | null {
  const cells = bins.flatMap((bin) => bin.cells.filter((cell) => isMotor(cell) && cell.volume > 0));
  if (cells.length === 0 || cells.some(({ lane }) => lane === undefined)) return null;
  return sumCells(cells, ['direction', 'lane']).length;
}

/** The speeds in each interval by direction and lane. */
function speedsByLane(
  { speedCells }: Traffic,
  bounds: readonly number[],
): Map<string, Map<number, number>>[] {
  const intervals = bounds.slice(1).map(() => new Map<string, Map<number, number>>());
  for (const { slot, bin, count, direction, lane } of speedCells()) {
    const interval = intervals[indexOf(bounds, slot)];
    const key = cellKey(partOfLane(direction, lane));
    const counts = interval?.get(key) ?? new Map<number, number>();
    counts.set(bin, (counts.get(bin) ?? 0) + count);
    interval?.set(key, counts);
  }
  return intervals;
}

function partOfLane(direction: Cell['direction'], lane: Cell['lane']): LanePart {
  return { ...(direction !== undefined && { direction }), ...(lane !== undefined && { lane }) };
}

function sumOfCounts(all: readonly SpeedCounts[]): SpeedCounts {
  const sums = new Map<number, number>();
  for (const counts of all) for (const [bin, count] of counts) sums.set(bin, (sums.get(bin) ?? 0) + count);
  return sums;
}

/** The occupancy in each interval by direction and lane, in percent. Intervals of a sensor are not divided. */
async function readOccupancies(
  traffic: Traffic,
  bounds: readonly number[],
  bins: readonly Bin[],
): Promise<ReadonlyMap<string, number>[]> {
  const passages = await traffic.readPassages();
  if (passages.length > MAX_PASSED)
    throw invalidInput('endDate', `There are more than ${MAX_PASSED} vehicles: choose a shorter range`);
  const sums = bins.map(() => new Map<string, { occupied: number; time: number }>());
  const add = (n: number, part: LanePart, occupied: number, time: number): void => {
    const key = cellKey(part);
    const sum = sums[n]?.get(key) ?? { occupied: 0, time: 0 };
    sums[n]?.set(key, { occupied: sum.occupied + occupied, time: sum.time + time });
  };
  for (const { start, end, direction, lane, occupancy } of await traffic.readOccupancies()) {
    const n = indexOf(bounds, start);
    if (start < (bounds[n] ?? start) || end > (bounds[n + 1] ?? start)) continue;
    add(n, partOfText(direction, lane), ((occupancy ?? 0) / 100) * (end - start), end - start);
  }
  for (const { at, direction, lane, occupied, isRejected } of passages)
    if (occupied !== null && !isRejected) add(indexOf(bounds, at), partOfText(direction, lane), occupied, 0);
  return sums.map((lanes, n) => {
    const { start = 0, end = 0, coverage = 0 } = bins[n] ?? {};
    const known = coverage * (end - start);
    const shares = [...lanes].flatMap(([key, { occupied, time }]): [string, number][] => {
      const whole = time > 0 ? time : known;
      return whole > 0 ? [[key, Math.min(100, (100 * occupied) / whole)]] : [];
    });
    return new Map(shares);
  });
}

function partOfText(direction: string, lane: string): LanePart {
  return partOfLane(
    direction === '' ? undefined : (directionOfText(direction) as Cell['direction']),
    lane === '' ? undefined : laneOfText(lane),
  );
}
