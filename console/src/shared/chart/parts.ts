import type { BarSeriesOption, LineSeriesOption } from 'echarts/charts';
import type { GridComponentOption, LegendComponentOption } from 'echarts/components';
import { type Look, stripes } from './look.ts';

// The building blocks of the charts, so that all of them look the same.

/** The area of the axes, with room for a legend above. */
export const grid: GridComponentOption = {
  top: 40,
  bottom: 8,
  left: 8,
  right: 16,
  outerBoundsMode: 'same',
  outerBoundsContain: 'all',
};

/** Shortens a name for the legend: names of places may be long. The table shows them in full. */
function shortened(name: string): string {
  const characters = [...name];
  return characters.length > 48 ? `${characters.slice(0, 47).join('')}…` : name;
}

/** The legend of the lines and bars, above the chart. */
export function legend(look: Look): LegendComponentOption {
  return {
    top: 0,
    left: 0,
    // A name that is cut in two is no name: the legend wraps instead of having pages.
    type: 'plain',
    formatter: shortened,
    itemWidth: 22,
    // The height of a line of text, because a legend with several pages is clipped to this height.
    itemHeight: 14,
    textStyle: { color: look.text },
    inactiveColor: look['line-strong'],
    pageTextStyle: { color: look.muted },
    pageIconColor: look.text,
    pageIconInactiveColor: look.line,
  };
}

interface CategoryOptions {
  /** Which positions may have a label; absent: all where there is room. */
  readonly isLabelled?: (at: number) => boolean;
  readonly name?: string;
}

/** An axis of categories. The labels are texts, because the library cannot format times in the zone of the service. */
export function categoryAxis(
  look: Look,
  labels: readonly string[],
  { isLabelled, name }: CategoryOptions = {},
) {
  const interval = isLabelled && { interval: isLabelled };
  return {
    type: 'category' as const,
    data: [...labels],
    ...(name && { name, nameLocation: 'middle' as const, nameGap: 26, nameTextStyle: { color: look.muted } }),
    axisLine: { lineStyle: { color: look['line-strong'] } },
    axisTick: { alignWithLabel: true, lineStyle: { color: look['line-strong'] }, ...interval },
    axisLabel: { color: look.muted, hideOverlap: true, lineHeight: 15, ...interval },
    splitLine: { show: false },
  };
}

/** An axis of numbers that starts at 0. */
export function valueAxis(look: Look, format: (value: number) => string, name?: string) {
  return {
    type: 'value' as const,
    min: 0,
    ...(name && { name, nameTextStyle: { color: look.muted, align: 'left' as const }, nameGap: 10 }),
    axisLabel: { color: look.muted, formatter: format },
    splitLine: { lineStyle: { color: look.line } },
  };
}

/** With more points than this, a line has no symbols at its points. */
const SHAPED = 60;

interface LineLook {
  readonly name: string;
  readonly color: string;
  readonly data: readonly (number | null)[];
  readonly dash?: 'solid' | 'dashed' | 'dotted';
  readonly width?: number;
  /** The symbol at its points, which distinguishes the line from others without relying on colour. */
  readonly symbol: 'circle' | 'rect' | 'triangle' | 'diamond' | 'emptyCircle' | 'emptyRect';
}

/** A line with gaps where there is no data. A single point between two gaps always has its symbol. */
export function line({ name, color, data, dash = 'solid', width = 2, symbol }: LineLook): LineSeriesOption {
  const isShaped = data.length <= SHAPED;
  return {
    type: 'line',
    name,
    connectNulls: false,
    showSymbol: true,
    symbol: isShaped ? symbol : 'none',
    symbolSize: 6,
    lineStyle: { color, width, type: dash },
    itemStyle: { color },
    emphasis: { disabled: true },
    data: data.map((value, at) => {
      const isAlone =
        !isShaped && value !== null && (data[at - 1] ?? null) === null && (data[at + 1] ?? null) === null;
      return isAlone ? { value, symbol, symbolSize: 4 } : (value ?? '-');
    }),
  };
}

interface BarLook {
  readonly name: string;
  readonly color: string;
  readonly data: readonly (number | null)[];
  /** Stripes distinguish the bars from adjacent ones without relying on colour. */
  readonly isStriped?: boolean;
  readonly look: Look;
}

/** Bars; where there is no data, there is no bar. */
export function bars({ name, color, data, isStriped = false, look }: BarLook): BarSeriesOption {
  return {
    type: 'bar',
    name,
    barCategoryGap: data.length > 200 ? '0%' : '20%',
    barGap: '0%',
    itemStyle: { color, ...(isStriped && { decal: stripes(look.surface) }) },
    emphasis: { disabled: true },
    data: data.map((value) => value ?? '-'),
  };
}

/**
 * Hatching over the full height where there is no data, because a missing bar looks like 0. It has axes of its own
 * (`gapAxes`), so that no space is reserved for it next to the bars.
 */
export function gaps(look: Look, name: string, isGap: readonly boolean[]): BarSeriesOption {
  return {
    type: 'bar',
    name,
    xAxisIndex: 1,
    yAxisIndex: 1,
    barWidth: '100%',
    silent: true,
    z: 0,
    itemStyle: { color: look.bg, decal: stripes(look.line) },
    emphasis: { disabled: true },
    data: isGap.map((is) => (is ? 1 : '-')),
  };
}

/** The hidden axes of the hatching (`gaps`). */
export function gapAxes(labels: readonly string[]) {
  return {
    x: { type: 'category' as const, data: [...labels], show: false },
    y: { type: 'value' as const, min: 0, max: 1, show: false },
  };
}

interface Mark {
  readonly name: string;
  readonly color: string;
  readonly at: number;
  readonly dash: 'solid' | 'dashed';
  /** Places the label of a horizontal line beside the chart, where no bars are. The grid must have room for it. */
  readonly isBeside?: boolean;
}

/** Straight lines with a label, such as the speed limit. */
export function marks(look: Look, direction: 'xAxis' | 'yAxis', all: readonly Mark[]) {
  return {
    silent: true,
    symbol: 'none',
    z: 10,
    data: all.map(({ name, color, at, dash, isBeside = false }, row) => ({
      [direction]: at,
      name,
      lineStyle: { color, type: dash, width: 1.5 },
      label: {
        formatter: name,
        color,
        backgroundColor: look.surface,
        padding: [1, 3],
        position: direction === 'xAxis' || isBeside ? ('end' as const) : ('insideStartTop' as const),
        ...(direction === 'xAxis' && { distance: [0, 2 + 16 * row] }),
      },
    })),
  };
}
