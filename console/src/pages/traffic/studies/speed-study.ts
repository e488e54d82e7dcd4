import type { CompareStudiesInput, SpeedStudyInput, SpeedStudyOfPlace } from '@gantry/contract/figures';
import type { SpeedUnits } from '@gantry/contract/values';
import type { DayRange } from '../../../shared/range/days.ts';
import type { Place, Subject } from '../comparison.ts';
import type { speedClasses } from '../search.ts';
import { weekdayNames } from '../search.ts';

/** The first and the last whole speed of a class. */
export type SpeedClass = readonly [from: number, to: number];

/** The choices of the page. */
export interface SpeedChoice {
  readonly place: Place;
  readonly days: DayRange;
  /** Absent: those of the place. */
  readonly units: SpeedUnits | undefined;
  readonly method: SpeedStudyInput['method'];
  /** The classes of the method CLASSED as they were entered; absent: those of `usualClasses`. */
  readonly classes: string | undefined;
  readonly weekdays: readonly (typeof weekdayNames)[number][] | undefined;
  /** A part of the day, as `09:00-15:30`. */
  readonly hours: string | undefined;
  readonly vehicleClass: (typeof speedClasses)[number] | undefined;
}

const FASTEST = { KMH: 250, MPH: 155 } as const;
const CLASS_WIDTH = 5;

/** Classes of five units: 1 to 5, 6 to 10, and so on up to the highest speed that the service believes. */
export function usualClasses(units: SpeedUnits = 'KMH'): SpeedClass[] {
  return Array.from({ length: FASTEST[units] / CLASS_WIDTH }, (_, at) => [
    at * CLASS_WIDTH + 1,
    (at + 1) * CLASS_WIDTH,
  ]);
}

const CLASS = /^(\d{1,3})\s*[-–]\s*(\d{1,3})$/;

/** Reads classes as `31-35, 36-40`; null if one of them is no class, or they are not in order or overlap. */
export function classesOf(text: string): SpeedClass[] | null {
  const classes: SpeedClass[] = [];
  for (const part of text.split(/[,;]/)) {
    const [, from, to] = CLASS.exec(part.trim()) ?? [];
    if (from === undefined || to === undefined) return null;
    const [, before = -1] = classes.at(-1) ?? [];
    if (Number(from) > Number(to) || Number(from) <= before) return null;
    classes.push([Number(from), Number(to)]);
  }
  return classes;
}

/** The days of the week and the hours that are chosen, as procedures take them. */
export function partOfWeek({ weekdays, hours }: Pick<SpeedChoice, 'weekdays' | 'hours'>) {
  return {
    ...(weekdays && { days: weekdays.map((name) => weekdayNames.indexOf(name)) }),
    ...(hours !== undefined && { hours: [hours] }),
  };
}

/**
 * What is chosen besides the place and the days, as `traffic.getSpeedStudy` takes it; null if the classes that were
 * entered are none.
 */
export function speedOptions(choice: Omit<SpeedChoice, 'place' | 'days'>) {
  const { units, method, classes, weekdays, hours, vehicleClass } = choice;
  const binEdges = classes === undefined ? usualClasses(units) : classesOf(classes);
  if (method === 'CLASSED' && binEdges === null) return null;
  return {
    ...(units && { units }),
    method,
    ...(method === 'CLASSED' && { binEdges: binEdges?.map(([from, to]) => [from, to]) }),
    ...partOfWeek({ weekdays, hours }),
    ...(vehicleClass !== undefined && { vehicleClass }),
  };
}

/** The input of `traffic.compareStudies`. */
export function comparisonInput(before: Subject, after: Subject, units: SpeedUnits | undefined) {
  const side = ({ place, days }: Subject) => ({ ...place, ...days }) as CompareStudiesInput['before'];
  return { before: side(before), after: side(after), ...(units && { units }) };
}

type SpeedBin = SpeedStudyOfPlace['bins'][number];
export interface SpeedBar extends SpeedBin {
  /** Share (0 to 1) of the vehicles that are not faster than the class. */
  readonly upTo: number;
}

/**
 * The classes of a study as they are drawn: without empty ones at the ends, and reaching to the limit, so that it has a
 * place on the axis.
 */
export function barsOf(bins: readonly SpeedBin[], limit: number | null): SpeedBar[] {
  const n = bins.reduce((sum, { count }) => sum + count, 0);
  if (n === 0) return [];
  const isShown = ({ from, to, count }: SpeedBin) =>
    count > 0 || (limit !== null && from <= limit && limit < to + 1);
  const shown = bins.slice(bins.findIndex(isShown), bins.findLastIndex((bin) => isShown(bin)) + 1);
  let sum = 0;
  return withLimit(shown, limit).map((bin) => {
    sum += bin.count;
    return { ...bin, upTo: sum / n };
  });
}

/** Adds empty classes of one unit up to the limit, if all classes are of one unit. */
function withLimit(bins: readonly SpeedBin[], limit: number | null): readonly SpeedBin[] {
  const [first, last] = [bins[0], bins.at(-1)];
  if (limit === null || !first || !last || bins.some(({ from, to }) => from !== to)) return bins;
  const empty = (from: number, until: number): SpeedBin[] =>
    Array.from({ length: Math.max(0, until - from) }, (_, at) => ({
      from: from + at,
      to: from + at,
      count: 0,
    }));
  const at = Math.floor(limit);
  return [...empty(at, first.from), ...bins, ...empty(last.to + 1, at + 1)];
}

/**
 * Where a speed stands on an axis that has one unit of length for each class; null if it is in none of them. A
 * percentile of the method CLASSED lies between the first and the last whole speed of its class.
 */
export function positionOf(bars: readonly SpeedBin[], speed: number, isClassed = false): number | null {
  const at = bars.findIndex(({ from, to }) => from <= speed && speed < to + 1);
  const bar = bars[at];
  if (bar) {
    const width = isClassed ? Math.max(1, bar.to - bar.from) : bar.to + 1 - bar.from;
    return at + Math.min(1, (speed - bar.from) / width);
  }
  return speed === (bars.at(-1)?.to ?? Number.NaN) + 1 ? bars.length : null;
}

/** What a sample is worth: too few speeds for percentiles, too few for the margin, or enough. */
export function verdictOf({
  n,
  sampleSize,
}: Pick<SpeedStudyOfPlace, 'n' | 'sampleSize'>): 'none' | 'tooFew' | 'less' | 'enough' {
  if (sampleSize === null) return n === 0 ? 'none' : 'tooFew';
  if (n < MIN_MEASURED) return 'tooFew';
  return n < sampleSize.needed ? 'less' : 'enough';
}

/** The smallest sample of which the service gives percentiles. */
export const MIN_MEASURED = 30;

/** A change is what came after, minus what was before. The service says it the other way round. */
export function changeOf(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before;
}

/**
 * The cumulative curves of two studies in classes of one unit: the shares (0 to 1) of vehicles that are slower than a
 * speed; null without vehicles.
 */
export function upToBoth(
  before: readonly SpeedBin[],
  after: readonly SpeedBin[],
): { below: number; shares: [number | null, number | null] }[] {
  const all = [...before, ...after].map(({ from }) => from);
  if (all.length === 0) return [];
  const [least, most] = [Math.min(...all), Math.max(...all) + 1];
  const curveOf = (bins: readonly SpeedBin[]) => {
    const n = bins.reduce((sum, { count }) => sum + count, 0);
    const counts = new Map(bins.map(({ from, count }) => [from, count]));
    let sum = 0;
    return Array.from({ length: most - least + 1 }, (_, at) => {
      sum += counts.get(least + at - 1) ?? 0;
      return n > 0 ? sum / n : null;
    });
  };
  const [first, second] = [curveOf(before), curveOf(after)];
  return first.map((share, at) => ({ below: least + at, shares: [share, second[at] ?? null] }));
}
