import type { TurningMovementsOfPlace } from '@gantry/contract/turning-movements';
import { classSchemes } from '@gantry/contract/vehicle-classes';
import type { DayRange } from '../../../../shared/range/days.ts';
import type { Place } from '../../comparison.ts';
import type { countParts } from '../../search.ts';
import type { CountBin } from '../count-table.ts';
import type { Windows } from '../peak-windows.tsx';
import type { Leg, Side } from './geometry.ts';

export type CountPartName = (typeof countParts)[number];

/** The choices of the page. */
export interface IntersectionChoice {
  readonly place: Place;
  readonly days: DayRange;
  /** The day that is shown. */
  readonly day: string;
  readonly interval: '15min' | '60min';
  readonly windows: Windows;
  readonly side: Side;
  readonly part: CountPartName | undefined;
}

/** What is shown, with the name of the place, which a study keeps. */
export interface NamedChoice extends IntersectionChoice {
  readonly name: string;
}

export type TurningPeak = TurningMovementsOfPlace['peaks'][number];
export type TurningTotals = TurningMovementsOfPlace['total'];
export type TurningMovement = TurningTotals['movements'][number];

const heavy = new Set(classSchemes.BASIC.filter(({ isHeavy }) => isHeavy).map(({ code }) => code));

/** The share of heavy vehicles, as the service defines T; null if no vehicle has a class. */
export function heavyShare(movements: readonly TurningMovement[]): number | null {
  const sum = (list: readonly { readonly volume: number }[]) =>
    list.reduce((total, { volume }) => total + volume, 0);
  const classified = movements.flatMap(({ byClass }) => byClass);
  return classified.length > 0
    ? sum(classified.filter((one) => heavy.has(one.class))) / sum(movements)
    : null;
}

/** The volume of a leg in one of the lists by leg; 0 if it is in none. */
export function ofLeg(list: readonly { readonly leg: Leg; readonly volume: number }[], leg: Leg): number {
  return list.find((each) => each.leg === leg)?.volume ?? 0;
}

/** The legs from which or through which anything passed. */
export function legsOf({ approaches, exits, pedestriansByLeg, bicyclesByLeg }: TurningTotals): Leg[] {
  return [...approaches, ...exits, ...pedestriansByLeg, ...bicyclesByLeg].map(({ leg }) => leg);
}

/** Whether there is anything to draw: vehicles with a movement, or road users counted by leg. */
export function hasMovements(total: TurningTotals): boolean {
  return legsOf(total).length > 0;
}

/** The part to show: the chosen one, by default the busiest hour of the day, or all if it has none. */
export function partShown(
  wanted: CountPartName | undefined,
  parts: readonly CountPartName[],
  peaks: readonly TurningPeak[],
): CountPartName {
  if (wanted !== undefined && parts.includes(wanted)) return wanted;
  if (peaks.some(({ window }) => window === 'DAY')) return 'DAY';
  return parts.includes('total') ? 'total' : 'period';
}

/** The turns of vehicles that came from a leg. */
export function fromLeg(movements: readonly TurningMovement[], leg: Leg): TurningMovement[] {
  return movements.filter(({ from }) => from === leg);
}

/** The classes that any movement has, in their usual order. */
export function classesOf(movements: readonly TurningMovement[]): string[] {
  const used = new Set(movements.flatMap(({ byClass }) => byClass.map((one) => one.class)));
  return classSchemes.BASIC.map(({ code }) => code).filter((code) => used.has(code));
}

/** The intervals of a turning movement count as those of `traffic.getCounts`, for the table of counts. */
export function countBins(bins: TurningMovementsOfPlace['bins']): CountBin[] {
  return bins.map(({ movements, pedestrians, bicycles, ...bin }) => ({
    ...bin,
    cells: [
      ...movements.map(({ from, turn, volume }): CountBin['cells'][number] => ({
        movement: { from, turn },
        volume,
      })),
      ...(pedestrians > 0 ? [{ class: 'PEDESTRIAN', volume: pedestrians }] : []),
      ...(bicycles > 0 ? [{ class: 'BICYCLE', volume: bicycles }] : []),
    ],
  }));
}
