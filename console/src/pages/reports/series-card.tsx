import type { Analytics } from '@gantry/contract/analytics';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../shared/chart/echarts.ts';
import type { Look } from '../../shared/chart/look.ts';
import {
  bars,
  categoryAxis,
  gapAxes,
  gaps,
  grid,
  legend,
  line,
  valueAxis,
} from '../../shared/chart/parts.ts';
import { timeLabels } from '../../shared/chart/time-axis.ts';
import { tooltipOf } from '../../shared/chart/tooltip.ts';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { useIntervalText } from '../../shared/chart/use-interval-text.ts';
import type { ChartTable } from '../../shared/csv/csv.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';

interface SeriesCardProps {
  readonly analytics: Analytics;
  readonly subject: string;
  readonly n: string;
  readonly from: Date;
  readonly until: Date;
}

/** The chart of the number of events per interval, and how many of them are violations. */
export function SeriesCard({ analytics: { series, interval }, ...range }: SeriesCardProps) {
  const { t, i18n } = useTranslation('reports');
  const { t: chartText } = useTranslation('chart');
  const time = useServiceTime();
  const textOf = useCellText();
  const intervalText = useIntervalText();
  const table = useMemo<ChartTable>(
    () => ({
      columns: [
        { header: chartText('start'), kind: interval === 'hour' ? 'moment' : 'day' },
        { header: t('totals.events'), kind: 'number' },
        { header: t('totals.violations'), kind: 'number' },
      ],
      rows: series.map(({ start, total, violations }) => [start, total, violations]),
    }),
    [series, interval, t, chartText],
  );
  const draw = useCallback(
    (look: Look): ChartOption => {
      const { labels, isLabelled } = timeLabels(
        series.map(({ start }) => start),
        time,
        i18n.language,
      );
      const totals = series.map(({ total }) => total);
      return {
        grid,
        legend: legend(look),
        tooltip: tooltipOf(look, 'axis', (at, colorOf) => {
          const point = series[at];
          return {
            title: point ? intervalText(point.start, point.end) : [],
            rows: table.columns.slice(1).map((column, next) => ({
              name: column.header,
              value: textOf(table.rows[at]?.[next + 1] ?? null, column),
              color: colorOf(column.header),
            })),
          };
        }),
        xAxis: [categoryAxis(look, labels, { isLabelled }), gapAxes(labels).x],
        yAxis: [valueAxis(look, (value) => value.toLocaleString(i18n.language)), gapAxes(labels).y],
        series: [
          bars({ name: t('totals.events'), color: look.low, data: totals, look }),
          line({
            name: t('totals.violations'),
            color: look.high,
            data: series.map(({ violations }) => violations),
            symbol: 'diamond',
          }),
          gaps(
            look,
            chartText('gap'),
            totals.map((total) => total === null),
          ),
        ],
      };
    },
    [series, table, time, textOf, intervalText, t, chartText, i18n.language],
  );
  return <ChartCard title={t('analytics.series')} table={table} draw={draw} {...range} />;
}
