import type { Flow, FlowPoint } from '@gantry/contract/traffic';
import type { Cell, ChartColumn } from '../chart/table.ts';
import type { Pair } from './overlay.ts';

/** What every chart over time is made of. */
export interface FlowView {
  readonly pairs: readonly Pair[];
  readonly first: Flow;
  /** What it is compared with. */
  readonly second: Flow | null;
  /** Names of the two, for legends and heads of columns. */
  readonly firstName: string;
  readonly secondName: string;
  /** The place and the days, for the chart as a whole. */
  readonly subject: string;
  /** Whether both are of the same days, so that one column of times is enough. */
  readonly isSameTime: boolean;
}

/** One figure of an interval. */
export interface Series {
  readonly name: string;
  readonly of: (point: FlowPoint) => number | null;
  readonly kind: 'number' | 'share';
  readonly digits?: number;
  readonly unit?: string;
}

/** The start of the interval at each position. */
export function startsOf(pairs: readonly Pair[]): Date[] {
  return pairs.flatMap(({ first, second }) => (first ?? second)?.start ?? []);
}

/** The figures of one series at each position; null where nothing is known. */
export function valuesOf(pairs: readonly Pair[], which: keyof Pair, { of }: Series): (number | null)[] {
  return pairs.map((pair) => {
    const point = pair[which];
    return point ? of(point) : null;
  });
}

/** The table of some series: the times, and each figure of both that are compared. */
export function tableOf(view: FlowView, series: readonly Series[], startName: string) {
  const { pairs, second, firstName, secondName, isSameTime } = view;
  const kind = view.first.interval === 'day' ? ('day' as const) : ('moment' as const);
  const both = second !== null;
  const titled = (name: string, of: string) => (both ? `${name}, ${of}` : name);
  const columns: ChartColumn[] = [
    { header: both && !isSameTime ? titled(startName, firstName) : startName, kind },
    ...(both && !isSameTime ? [{ header: titled(startName, secondName), kind }] : []),
    ...series.flatMap(({ name, of: _, ...rest }) => [
      { header: titled(name, firstName), ...rest },
      ...(both ? [{ header: titled(name, secondName), ...rest }] : []),
    ]),
  ];
  const rows = pairs.map((pair): Cell[] => {
    const { first, second: other } = pair;
    const value = (point: FlowPoint | null, { of }: Series) => (point ? of(point) : null);
    return [
      (first ?? (isSameTime ? other : null))?.start ?? null,
      ...(both && !isSameTime ? [other?.start ?? null] : []),
      ...series.flatMap((one) => [value(first, one), ...(both ? [value(other, one)] : [])]),
    ];
  });
  return { columns, rows };
}
