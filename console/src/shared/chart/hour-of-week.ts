import type { ChartTable } from '../csv/csv.ts';
import type { ChartOption } from './echarts.ts';
import type { Look } from './look.ts';
import { tooltipOf } from './tooltip.ts';

interface HourOfWeekParts {
  readonly days: readonly { readonly weekday: number; readonly name: string }[];
  /** The figure of an hour (0 … 23) of a day; null is a gap. */
  readonly figureOf: (weekday: number, hour: number) => number | null;
  readonly format: (value: number) => string;
  /** Further rows of the tooltip of a cell. */
  readonly moreOf?: (weekday: number, hour: number) => { name: string; value: string }[];
  readonly texts: { readonly day: string; readonly value: string; readonly gap: string };
  readonly digits: number;
}

const hourName = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** A heat map of the hours of a week: the higher the figure, the closer to the accent colour. Gaps are left empty. */
export function hourOfWeek({ days, figureOf, format, moreOf, texts, digits }: HourOfWeekParts) {
  const hours = Array.from({ length: 24 }, (_, hour) => hour);
  const table: ChartTable = {
    columns: [
      { header: texts.day, kind: 'text' },
      ...hours.map((hour) => ({ header: hourName(hour), kind: 'number' as const, digits })),
    ],
    rows: days.map(({ weekday, name }) => [name, ...hours.map((hour) => figureOf(weekday, hour))]),
  };
  // The y axis runs from bottom to top, but the days are read from top to bottom.
  const rows = days.toReversed();
  const cells = rows.flatMap(({ weekday, name }, y) =>
    hours.map((hour) => ({ weekday, name, hour, y, value: figureOf(weekday, hour) })),
  );
  const most = Math.max(1, ...cells.map(({ value }) => value ?? 0));
  const draw = (look: Look): ChartOption => ({
    grid: { top: 8, bottom: 44, left: 8, right: 8, outerBoundsMode: 'same', outerBoundsContain: 'all' },
    tooltip: tooltipOf(look, 'item', (at) => {
      const cell = cells[at];
      if (!cell) return { title: [], rows: [] };
      const { weekday, name, hour, value } = cell;
      return {
        title: [`${name} ${hourName(hour)}–${hourName(hour + 1)}`],
        rows: [
          { name: texts.value, value: value === null ? texts.gap : format(value) },
          ...(moreOf?.(weekday, hour) ?? []),
        ],
      };
    }),
    xAxis: {
      type: 'category',
      data: hours.map((hour) => String(hour)),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: look.muted, hideOverlap: true },
    },
    yAxis: {
      type: 'category',
      data: rows.map(({ name }) => name),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { color: look.muted },
    },
    visualMap: {
      min: 0,
      max: most,
      orient: 'horizontal',
      left: 8,
      bottom: 0,
      itemWidth: 10,
      itemHeight: 120,
      text: [format(most), '0'],
      textStyle: { color: look.muted },
      inRange: { color: [look.line, look.accent] },
    },
    series: [
      {
        type: 'heatmap',
        itemStyle: { borderColor: look.surface, borderWidth: 1 },
        emphasis: { itemStyle: { borderColor: look.text, borderWidth: 2 } },
        // The visual map leaves zero out of its range if it is the only value; the colour of the legend is given to it.
        data: cells.map(({ hour, y, value }) =>
          value === 0
            ? { value: [hour, y, 0], visualMap: false, itemStyle: { color: look.line } }
            : [hour, y, value ?? '-'],
        ),
      },
    ],
  });
  return { table, draw };
}
