import { DAY_MS, MINUTE_MS } from '@gantry/contract/durations';
import type { Interval } from '../platform/time.ts';
import {
  type Bin,
  type BinStatus,
  type Cell,
  cellKey,
  DIMENSIONS,
  type Dimension,
  type Direction,
  isMotor,
  roundTo,
  sumCells,
} from './bin.ts';
import { dayVolume } from './daily.ts';
import { binsByDay, clockOf, type DayOfBins } from './local-hours.ts';

export type WindowName = 'AM' | 'MIDDAY' | 'PM' | 'DAY';

/** A part of the day in which a peak hour is sought, in minutes of the local clock. */
export interface PeakWindow {
  readonly window: WindowName;
  /** By default, the end of the peak hour of the morning. */
  readonly from?: number;
  /** By default, the start of the peak hour of the afternoon. */
  readonly until?: number;
}

/** The windows of the city of Toronto's MOVE: 06:30 to 10:30, 14:00 to 20:00, what is between their peaks, the day. */
export const PEAK_WINDOWS: readonly PeakWindow[] = [
  { window: 'AM', from: 390, until: 630 },
  { window: 'MIDDAY' },
  { window: 'PM', from: 840, until: 1_200 },
  { window: 'DAY', from: 0, until: 1_440 },
];

/** The part of a peak hour that belongs to a direction, lane, class or movement. */
export interface PeakPart extends Omit<Cell, 'class'> {
  /** The code of the class. */
  readonly class?: string;
  readonly peakHourFactor: number | null;
}

/** The peak hour of a window. What is null could not be given, and `reason` says why there is no peak hour. */
export interface Peak {
  readonly window: WindowName;
  readonly start: Date | null;
  readonly end: Date | null;
  /** Motor vehicles. */
  readonly volume: number | null;
  /** The volume divided by four times that of the busiest quarter hour. */
  readonly peakHourFactor: number | null;
  /** The part of the day's volume; null if the day is not complete. */
  readonly k: number | null;
  /** The part of the heavier direction; null if not exactly two were counted. */
  readonly d: number | null;
  readonly dDirection: Direction | null;
  /** The part of heavy vehicles; null if there are no classes. */
  readonly t: number | null;
  /** The number of quarter hours of the window that are over, whole and valid. */
  readonly validBins: number;
  readonly status: BinStatus;
  readonly reason: string | null;
  readonly by: PeakPart[];
}

export interface PeakHours {
  readonly days: { readonly date: string; readonly windows: Peak[] }[];
  /** Of the means of the quarter hours over all days; null without a valid one. Its times are those of clocks. */
  readonly average: {
    /** The number of days with a valid quarter hour. */
    readonly n: number;
    readonly windows: (Omit<Peak, 'start' | 'end'> & {
      /** HH:MM */
      readonly start: string | null;
      readonly end: string | null;
    })[];
  } | null;
}

export interface PeakOptions {
  readonly windows?: readonly PeakWindow[];
  /** The parts of each peak hour to list. */
  readonly by?: readonly Dimension[];
}

/** A day, the quarter hours of it that can be in a peak hour, and what the clocks show. */
interface Day {
  readonly bins: readonly Bin[];
  readonly minuteAt: (time: number) => number;
  /** Null if the day is not complete. */
  readonly total: number | null;
}

const QUARTER_MS = 15 * MINUTE_MS;

/**
 * The peak hours of every local day that overlaps a range: the four successive quarter hours with most motor vehicles,
 * the first of several. Only quarter hours that are over, whole and valid, and lie wholly in the range, are used.
 * @param bins of 15 minutes, in order
 */
export function peakHours(
  bins: readonly Bin[],
  range: Interval,
  zone: string,
  { windows = PEAK_WINDOWS, by = [] }: PeakOptions = {},
): PeakHours {
  const days = binsByDay(bins, range, zone).map((day) => ({
    date: day.day,
    ...quartersOf(day, range, zone),
  }));
  return {
    days: days.map((day) => ({ date: day.date, windows: peaksOf(day, windows, by) })),
    average: averageOf(days, windows, by),
  };
}

function quartersOf(day: DayOfBins<Bin>, { from, until }: Interval, zone: string): Day {
  const clock = clockOf(day, zone);
  const { volume, status } = dayVolume(day, zone);
  return {
    bins: day.bins.filter(
      ({ start, end }) => end - start === QUARTER_MS && start >= from && end <= until && end <= day.until,
    ),
    minuteAt: (time) => clock(time).minute,
    total: status === 'VALID' ? volume : null,
  };
}

function peaksOf(day: Day, windows: readonly PeakWindow[], by: readonly Dimension[]): Peak[] {
  return windows.map((window) => {
    const { from, until } = boundsOf(day, window, windows);
    const bins = withinClock(day, from, until);
    const hour = busiestHour(bins);
    const known = {
      window: window.window,
      validBins: bins.filter(({ status }) => status === 'VALID').length,
      ...verdictOf(bins, hour),
    };
    return hour ? { ...known, ...describeHour(hour, day.total, by) } : { ...known, ...NO_PEAK };
  });
}

/** The bounds of a window in minutes of the local clock. */
function boundsOf(
  day: Day,
  window: PeakWindow,
  windows: readonly PeakWindow[],
): { from: number; until: number } {
  const named = (name: WindowName): PeakWindow | undefined =>
    windows.find((each) => each.window === name) ?? PEAK_WINDOWS.find((each) => each.window === name);
  const { from, until } = { ...PEAK_WINDOWS.find((each) => each.window === window.window), ...window };
  if (from !== undefined && until !== undefined) return { from, until };
  const [am, pm] = [named('AM'), named('PM')].map((each) => ({
    from: each?.from ?? 0,
    until: each?.until ?? 0,
  }));
  const last = am && busiestHour(withinClock(day, am.from, am.until))?.at(-1);
  const first = pm && busiestHour(withinClock(day, pm.from, pm.until))?.at(0);
  return {
    from: from ?? (last ? day.minuteAt(last.start) + 15 : (am?.until ?? 0)),
    until: until ?? (first ? day.minuteAt(first.start) : (pm?.from ?? 0)),
  };
}

function withinClock({ bins, minuteAt }: Day, from: number, until: number): Bin[] {
  return bins.filter(({ start }) => {
    const minute = minuteAt(start);
    return minute >= from && minute + 15 <= until;
  });
}

/** The first of the hours with most vehicles among four successive valid quarter hours; null without any vehicle. */
export function busiestHour(bins: readonly Bin[]): readonly Bin[] | null {
  let [best, most]: [readonly Bin[] | null, number] = [null, 0];
  for (let n = 0; n + 4 <= bins.length; n++) {
    const hour = bins.slice(n, n + 4);
    const isWhole = hour.every(
      ({ start, status, volume }, i) =>
        status === 'VALID' && volume !== null && start === (hour[0]?.start ?? 0) + i * QUARTER_MS,
    );
    if (!isWhole) continue;
    const sum = roundTo(volumeOf(hour), 6);
    if (sum > most) [best, most] = [hour, sum];
  }
  return best;
}

function volumeOf(bins: readonly Bin[]): number {
  return bins.reduce((sum, { volume }) => sum + (volume ?? 0), 0);
}

function verdictOf(bins: readonly Bin[], hour: readonly Bin[] | null): Pick<Peak, 'status' | 'reason'> {
  const isOver = bins.every(({ status }) => status !== 'PROVISIONAL');
  const isValid = bins.every(({ status }) => status === 'VALID');
  if (hour) return { status: isValid ? 'VALID' : isOver ? 'PARTIAL' : 'PROVISIONAL', reason: null };
  if (!isOver) return { status: 'PROVISIONAL', reason: 'The window is not over' };
  const hasVehicles = bins.some(({ status, volume }) => status === 'VALID' && volume !== 0);
  return {
    status: 'INSUFFICIENT',
    reason: hasVehicles ? 'No four successive quarter hours are whole and valid' : 'No vehicle was counted',
  };
}

const NO_PEAK = {
  start: null,
  end: null,
  volume: null,
  peakHourFactor: null,
  k: null,
  d: null,
  dDirection: null,
  t: null,
  by: [],
};

function describeHour(hour: readonly Bin[], total: number | null, by: readonly Dimension[]) {
  const volume = volumeOf(hour);
  const cells = hour.flatMap((bin) => bin.cells).filter(isMotor);
  const classified = cells.filter((cell) => cell.class && cell.class.code !== 'UNCLASSIFIED');
  const heavy = classified.reduce((sum, cell) => sum + (cell.class?.isHeavy ? cell.volume : 0), 0);
  return {
    start: new Date(hour[0]?.start ?? 0),
    end: new Date(hour.at(-1)?.end ?? 0),
    volume: roundTo(volume, 3),
    peakHourFactor: peakHourFactor(hour.map((bin) => bin.volume ?? 0)),
    k: total ? roundTo(volume / total, 4) : null,
    ...heavierDirection(cells),
    t: classified.length > 0 ? roundTo(heavy / volume, 4) : null,
    by: by.length > 0 ? partsOf(hour, by) : [],
  };
}

/** The volume of an hour divided by four times that of its busiest quarter, rounded to 0.0001; null without vehicles. */
export function peakHourFactor(quarters: readonly number[]): number | null {
  const most = Math.max(...quarters);
  return most > 0 ? roundTo(quarters.reduce((sum, n) => sum + n, 0) / (4 * most), 4) : null;
}

function heavierDirection(cells: readonly Cell[]): Pick<Peak, 'd' | 'dDirection'> {
  const directions = sumCells(cells, ['direction']);
  const [one, other] = directions;
  if (directions.length !== 2 || one?.direction === undefined || other?.direction === undefined)
    return { d: null, dDirection: null };
  const sum = one.volume + other.volume;
  if (sum === 0) return { d: null, dDirection: null };
  const [first, second] = one.direction < other.direction ? [one, other] : [other, one];
  const heavier = second.volume > first.volume ? second : first;
  return { d: roundTo(heavier.volume / sum, 4), dDirection: heavier.direction ?? null };
}

/** The motor vehicles of an hour by the given dimensions, with the peak hour factor of each part. */
function partsOf(hour: readonly Bin[], by: readonly Dimension[]): PeakPart[] {
  const quarters = hour.map(({ cells }) => sumCells(cells.filter(isMotor), by));
  return sumCells(quarters.flat(), by).map((part) => {
    const { class: vehicleClass, volume, ...cell } = part;
    const isSame = (other: Cell): boolean => cellKey(other) === cellKey(part);
    return {
      ...cell,
      ...(vehicleClass && { class: vehicleClass.code }),
      volume: roundTo(volume, 3),
      peakHourFactor: peakHourFactor(quarters.map((parts) => parts.find(isSame)?.volume ?? 0)),
    };
  });
}

/** The peaks of the mean of each quarter hour of the clock over all days on which it is valid. */
function averageOf(
  days: readonly Day[],
  windows: readonly PeakWindow[],
  by: readonly Dimension[],
): PeakHours['average'] {
  const quarters = new Map<number, Bin[]>();
  for (const { bins, minuteAt } of days)
    for (const bin of bins)
      if (bin.status === 'VALID') {
        const minute = minuteAt(bin.start);
        quarters.set(minute, [...(quarters.get(minute) ?? []), bin]);
      }
  if (quarters.size === 0) return null;
  const bins = [...quarters].sort(([a], [b]) => a - b).map(([minute, same]) => meanBin(minute, same));
  const day = {
    bins,
    minuteAt: (time: number): number => time / MINUTE_MS,
    total: bins.length === DAY_MS / QUARTER_MS ? volumeOf(bins) : null,
  };
  const clock = (time: Date | null): string | null => {
    if (time === null) return null;
    // The end of the last hour of the day is 24:00.
    return time.getTime() === DAY_MS ? '24:00' : time.toISOString().slice(11, 16);
  };
  return {
    n: days.filter((each) => each.bins.some(({ status }) => status === 'VALID')).length,
    windows: peaksOf(day, windows, by).map((peak) => ({
      ...peak,
      start: clock(peak.start),
      end: clock(peak.end),
    })),
  };
}

function meanBin(minute: number, same: readonly Bin[]): Bin {
  const start = minute * MINUTE_MS;
  const cells = sumCells(
    same.flatMap((bin) => bin.cells),
    DIMENSIONS,
  );
  return {
    start,
    end: start + QUARTER_MS,
    status: 'VALID',
    coverage: 1,
    volume: volumeOf(same) / same.length,
    cells: cells.map((cell) => ({ ...cell, volume: cell.volume / same.length })),
  };
}
