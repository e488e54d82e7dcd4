import {
  BarChart,
  type BarSeriesOption,
  HeatmapChart,
  type HeatmapSeriesOption,
  LineChart,
  type LineSeriesOption,
} from 'echarts/charts';
import {
  AriaComponent,
  type AriaComponentOption,
  DataZoomComponent,
  type DataZoomComponentOption,
  GridComponent,
  type GridComponentOption,
  LegendComponent,
  type LegendComponentOption,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  type TooltipComponentOption,
  VisualMapComponent,
  type VisualMapComponentOption,
} from 'echarts/components';
import { type ComposeOption, type ECharts as EChartsType, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

// The parts of the library that the charts use. This file is imported dynamically, only when a chart is shown.

use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  DataZoomComponent,
  GridComponent,
  HeatmapChart,
  LegendComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
]);

/** The options of a chart. */
export type ChartOption = ComposeOption<
  | AriaComponentOption
  | BarSeriesOption
  | DataZoomComponentOption
  | GridComponentOption
  | HeatmapSeriesOption
  | LegendComponentOption
  | LineSeriesOption
  | TooltipComponentOption
  | VisualMapComponentOption
>;

export type ECharts = EChartsType;

/** Creates a chart in an element of the page. */
export function createChart(element: HTMLElement): ECharts {
  return init(element);
}
