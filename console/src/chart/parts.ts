import type { BarSeriesOption, LineSeriesOption } from 'echarts/charts';
import type { GridComponentOption, LegendComponentOption } from 'echarts/components';
import { type Look, stripes } from './look.ts';

// The parts that charts are put together from, so that all of them look the same.

/** The area of the axes, with room for a legend above. */
export const grid: GridComponentOption = {
  top: 40,
  bottom: 8,
  left: 8,
  right: 16,
  outerBoundsMode: 'same',
  outerBoundsContain: 'all',
};

/** Names of places may be long; the table and the tooltip have them whole. */
function shortened(name: string): string {
  const characters = [...name];
  return characters.length > 48 ? `${characters.slice(0, 47).join('')}…` : name;
}

/** Which lines and bars there are. */
export function legend(look: Look): LegendComponentOption {
  return {
    top: 0,
    left: 0,
    type: 'scroll',
    formatter: shortened,
    itemWidth: 22,
    // As high as a line of text: a legend of several pages is cut to its height.
    itemHeight: 14,
    textStyle: { color: look.text },
    inactiveColor: look['line-strong'],
    pageTextStyle: { color: look.muted },
    pageIconColor: look.text,
    pageIconInactiveColor: look.line,
  };
}

interface CategoryOptions {
  /** At which positions a label may stand; absent: wherever there is room. */
  readonly isLabelled?: (at: number) => boolean;
  readonly name?: string;
}

/** An axis of categories. Their names are texts that are ready, because times are those of the service's zone. */
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

/** An axis of numbers, from 0. */
export function valueAxis(look: Look, format: (value: number) => string, name?: string) {
  return {
    type: 'value' as const,
    min: 0,
    ...(name && { name, nameTextStyle: { color: look.muted, align: 'left' as const }, nameGap: 10 }),
    axisLabel: { color: look.muted, formatter: format },
    splitLine: { lineStyle: { color: look.line } },
  };
}

/** Above this many points a line has no shapes at them. */
const SHAPED = 60;

interface LineLook {
  readonly name: string;
  readonly color: string;
  readonly data: readonly (number | null)[];
  readonly dash?: 'solid' | 'dashed' | 'dotted';
  readonly width?: number;
  /** The shape at its points, which tells it from the others without its colour. */
  readonly symbol: 'circle' | 'rect' | 'triangle' | 'diamond' | 'emptyCircle' | 'emptyRect';
}

/** A line with gaps where nothing is known. A point between two gaps is shown by its shape. */
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
  /** Stripes tell it from the bars beside it. */
  readonly isStriped?: boolean;
  readonly look: Look;
}

/** Bars; where nothing is known there is none. */
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
 * Hatches over the whole height where nothing is known, because a bar that is missing looks like 0. They have axes of their
 * own, `gapAxes`, so that the bars do not make room for them.
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

/** The axes of the hatches, which are not shown. */
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
}

/** Straight lines with a name, such as the speed limit. */
export function marks(look: Look, direction: 'xAxis' | 'yAxis', all: readonly Mark[]) {
  return {
    silent: true,
    symbol: 'none',
    z: 10,
    data: all.map(({ name, color, at, dash }, row) => ({
      [direction]: at,
      name,
      lineStyle: { color, type: dash, width: 1.5 },
      label: {
        formatter: name,
        color,
        backgroundColor: look.surface,
        padding: [1, 3],
        position: direction === 'xAxis' ? ('end' as const) : ('insideStartTop' as const),
        ...(direction === 'xAxis' && { distance: [0, 2 + 16 * row] }),
      },
    })),
  };
}
