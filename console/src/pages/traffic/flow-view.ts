import type { Flow, FlowPoint } from '@gantry/contract/traffic';
import { useCallback } from 'react';
import type { Look } from '../../shared/chart/look.ts';
import { type TooltipRow, tooltipOf } from '../../shared/chart/tooltip.ts';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { useIntervalText } from '../../shared/chart/use-interval-text.ts';
import type { Cell, ChartColumn } from '../../shared/csv/csv.ts';
import type { Pair } from './overlay.ts';

/** The data that the charts over time share. */
export interface FlowView {
  readonly pairs: readonly Pair[];
  readonly first: Flow;
  /** The traffic that it is compared with; null without a comparison. */
  readonly second: Flow | null;
  /** The names of the two, for legends and column headers. */
  readonly firstName: string;
  readonly secondName: string;
  /** The place and the days, as the subtitle of the chart. */
  readonly subject: string;
  /** Whether both cover the same days, so that the table needs only one column of times. */
  readonly isSameTime: boolean;
}

/** A figure that is shown for each interval. */
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

/** The values of one series at each position; null where there is no data. */
export function valuesOf(pairs: readonly Pair[], which: keyof Pair, { of }: Series): (number | null)[] {
  return pairs.map((pair) => {
    const point = pair[which];
    return point ? of(point) : null;
  });
}

/** The table of a chart: the times, and the values of each series, with those of the comparison next to them. */
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

/** The tooltip of the charts over time: the values of every series in the interval, and those of the comparison. */
export function useFlowTooltip(view: FlowView, series: readonly Series[]) {
  const textOf = useCellText();
  const intervalText = useIntervalText();
  return useCallback(
    (look: Look) =>
      tooltipOf(look, 'axis', (at, colorOf) => {
        const { first = null, second = null } = view.pairs[at] ?? {};
        const times = [first, view.isSameTime && first ? null : second].flatMap((point) =>
          point ? intervalText(point.start, point.end) : [],
        );
        const rows = series.flatMap(({ name, of, unit, ...column }): TooltipRow[] =>
          [
            { point: first, title: view.second ? `${name}, ${view.firstName}` : name },
            { point: second, title: `${name}, ${view.secondName}` },
          ].flatMap(({ point, title }) => {
            if (!point) return [];
            const value = of(point);
            const text = textOf(value, { header: name, ...column });
            return {
              name: title,
              value: unit && value !== null ? `${text} ${unit}` : text,
              color: colorOf(title),
            };
          }),
        );
        return { title: times, rows };
      }),
    [view, series, textOf, intervalText],
  );
}
