import type { CountsInput, CountsOfPlace, PeakHoursOfPlace } from '@gantry/contract/figures';
import { directions, legs, turns } from '@gantry/contract/values';
import { classSchemes } from '@gantry/contract/vehicle-classes';
import type { DayRange } from '../../../shared/range/days.ts';
import type { Place } from '../comparison.ts';
import type { divisions } from '../search.ts';
import type { Windows } from './peak-windows.tsx';

/** The choices of the page. */
export interface CountsChoice {
  readonly place: Place;
  readonly days: DayRange;
  /** The day whose intervals are shown, unless these are days. */
  readonly day: string;
  readonly interval: CountsInput['interval'];
  readonly division: (typeof divisions)[number];
  readonly windows: Windows;
}

/** What the columns are divided by, as `traffic.getCounts` names it. */
const dividedBy: Readonly<Record<CountsChoice['division'], CountsInput['by']>> = {
  total: [],
  direction: ['direction'],
  lane: ['direction', 'lane'],
  class: ['class'],
  movement: ['movement'],
};

/** The input of `traffic.getCounts` for some days. */
export function countsInput({ place, interval, division }: CountsChoice, days: DayRange) {
  return { ...place, ...days, interval, by: dividedBy[division] };
}

export type CountBin = CountsOfPlace['bins'][number];
type CountCell = CountBin['cells'][number];
export type PeakOfDay = PeakHoursOfPlace['days'][number]['windows'][number];

/** What a column of a count has in common: a direction, lane, class or movement. */
export type CountPart = Omit<CountCell, 'volume'>;

export interface CountColumn {
  readonly key: string;
  readonly part: CountPart;
  /** Whether its road users are in the volume, which is that of motor vehicles. */
  readonly isMotor: boolean;
}

const keyOf = ({ direction, lane, class: code, movement }: CountPart): string =>
  JSON.stringify([
    direction ?? null,
    lane ?? null,
    code ?? null,
    movement?.from ?? null,
    movement?.turn ?? null,
  ]);

const isMotorClass = (code: string | undefined): boolean =>
  code === undefined || classSchemes.BASIC.find((each) => each.code === code)?.mode === 'MOTOR';

/** Where a value stands in a usual order; others follow, numbers by size and words by the alphabet. */
function rankIn(order: readonly string[], value: string | number | undefined): string {
  const at = order.indexOf(String(value));
  if (at >= 0) return String(at).padStart(3, '0');
  return typeof value === 'number' ? `8${String(value * 10).padStart(6, '0')}` : `9${value ?? ''}`;
}

const classCodes = classSchemes.BASIC.map(({ code }) => code);

function rankOf({ direction, lane, class: code, movement }: CountPart): string {
  return [
    rankIn(legs, movement?.from),
    rankIn(turns, movement?.turn),
    rankIn(directions, direction),
    rankIn([], lane),
    rankIn(classCodes, code),
  ].join(' ');
}

/**
 * The columns that the cells of a count need, in the order of the field: by leg, direction, lane and class. None if
 * nothing is known of the parts.
 */
export function columnsOf(bins: readonly CountBin[]): CountColumn[] {
  const columns = new Map<string, CountColumn>();
  for (const { volume: _, ...part } of bins.flatMap(({ cells }) => cells)) {
    const key = keyOf(part);
    if (!columns.has(key)) columns.set(key, { key, part, isMotor: isMotorClass(part.class) });
  }
  const all = [...columns.values()].sort((a, b) => (rankOf(a.part) < rankOf(b.part) ? -1 : 1));
  return all.some(({ part }) => Object.keys(part).length > 0) ? all : [];
}

/**
 * The count of a column in an interval; null if it is not known. Where a part of the interval is not known, a column
 * without a count may be one of which nothing is known, so that it is no 0.
 */
export function countOf({ volume, status, cells }: CountBin, { key }: CountColumn): number | null {
  if (volume === null && cells.length === 0) return null;
  const found = cells.find((cell) => keyOf(cell) === key)?.volume;
  return found ?? (status === 'VALID' || status === 'PROVISIONAL' ? 0 : null);
}

/** The sum of what is known; null if nothing is. */
export function sumOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) : null;
}

/** The windows whose peak hour an interval is part of; `DAY` is left out, because it is one of the others or empty. */
export function peaksAt({ start, end }: CountBin, peaks: readonly PeakOfDay[]): PeakOfDay['window'][] {
  return peaks.flatMap(({ window, start: from, end: until }) =>
    window !== 'DAY' && from && until && start >= from && end <= until ? window : [],
  );
}

const HOUR_QUARTERS = 4;

/** The volume of the hour that begins with a quarter hour; null unless its quarter hours are all whole and valid. */
export function hourFrom(quarters: readonly CountBin[], at: number): number | null {
  const hour = quarters.slice(at, at + HOUR_QUARTERS);
  const isWhole = hour.length === HOUR_QUARTERS && hour.every(({ status }) => status === 'VALID');
  return isWhole ? sumOf(hour.map(({ volume }) => volume)) : null;
}

/** The number of intervals with each status, and the share of the time that is known. */
export function knownOf(bins: readonly CountBin[]): { valid: number; coverage: number } {
  const length = ({ start, end }: CountBin): number => end.getTime() - start.getTime();
  const all = bins.reduce((sum, bin) => sum + length(bin), 0);
  const known = bins.reduce((sum, bin) => sum + bin.coverage * length(bin), 0);
  return {
    valid: bins.filter(({ status }) => status === 'VALID').length,
    coverage: all > 0 ? known / all : 0,
  };
}
