import { useCallback } from 'react';
import type { Look } from '../../shared/chart/look.ts';
import { type TooltipRow, tooltipOf } from '../../shared/chart/tooltip.ts';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { useIntervalText } from '../../shared/chart/use-interval-text.ts';
import type { FlowView, Series } from './flow-view.ts';

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
