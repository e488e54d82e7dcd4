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
import { useServiceTime } from '../../shared/time/use-time.ts';
import { type FlowView, type Series, startsOf, tableOf, useFlowTooltip, valuesOf } from './flow-view.ts';
import { useVehicles } from './vehicle-types.tsx';

/** The chart of the number of vehicles per interval. */
export function VolumeCard({ view, from, until }: { view: FlowView; from: Date; until: Date }) {
  const { t, i18n } = useTranslation('traffic');
  const { t: chartText } = useTranslation('chart');
  const time = useServiceTime();
  const vehicles = useVehicles();
  const series = useMemo<Series[]>(
    () => [
      { name: t('figures.volume'), of: ({ volume }) => volume, kind: 'number' },
      {
        name: t('figures.meanSpeed'),
        of: ({ meanSpeed }) => meanSpeed,
        kind: 'number',
        digits: 1,
        unit: t('kmh'),
      },
      { name: t('figures.shareOverLimit'), of: ({ shareOverLimit }) => shareOverLimit, kind: 'share' },
      { name: t('figures.completeness'), of: ({ completeness }) => completeness, kind: 'share' },
    ],
    [t],
  );
  const tooltip = useFlowTooltip(view, series);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const { pairs, second, firstName, secondName } = view;
      const starts = startsOf(pairs);
      const { labels, isLabelled } = timeLabels(starts, time, i18n.language);
      const [volume] = series;
      if (!volume) return {};
      const title = (name: string) => (second ? `${volume.name}, ${name}` : volume.name);
      const values = valuesOf(pairs, 'first', volume);
      const others = valuesOf(pairs, 'second', volume);
      return {
        grid: { ...grid, top: second ? 72 : 56 },
        legend: legend(look),
        tooltip: tooltip(look),
        xAxis: [categoryAxis(look, labels, { isLabelled }), gapAxes(labels).x],
        yAxis: [
          valueAxis(look, (value) => value.toLocaleString(i18n.language), t('volume.axis')),
          gapAxes(labels).y,
        ],
        series: [
          bars({ name: title(firstName), color: look.low, data: values, look }),
          ...(second
            ? [line({ name: title(secondName), color: look.accent, data: others, symbol: 'diamond' })]
            : []),
          gaps(
            look,
            chartText('gap'),
            // An interval in the future is not a gap.
            starts.map((start, at) => values[at] === null && start.getTime() < Date.now()),
          ),
        ],
      };
    },
    [view, series, tooltip, time, i18n.language, chartText, t],
  );
  return (
    <ChartCard
      title={t('volume.title')}
      subject={view.subject}
      n={vehicles(view.first.volume ?? 0, view.second?.volume)}
      from={from}
      until={until}
      table={tableOf(view, series, chartText('start'))}
      draw={draw}
    />
  );
}
