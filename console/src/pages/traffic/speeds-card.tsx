import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../shared/chart/echarts.ts';
import type { Look } from '../../shared/chart/look.ts';
import { categoryAxis, grid, legend, line, marks, valueAxis } from '../../shared/chart/parts.ts';
import { timeLabels } from '../../shared/chart/time-axis.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { type FlowView, type Series, startsOf, tableOf, useFlowTooltip, valuesOf } from './flow-view.ts';
import { useVehicles } from './vehicle-types.tsx';

const PERCENTILES = ['v15', 'v50', 'v85', 'v95'] as const;

/** Each percentile has its own line style and symbol, so that they do not differ by colour alone. */
const looks = {
  v15: { token: 'low', dash: 'dotted', symbol: 'triangle', width: 1.5 },
  v50: { token: 'text', dash: 'solid', symbol: 'rect', width: 1.5 },
  v85: { token: 'accent', dash: 'solid', symbol: 'circle', width: 2.5 },
  v95: { token: 'muted', dash: 'dashed', symbol: 'diamond', width: 1.5 },
} as const;

/** The colours of the second period or place of a comparison. */
const others = { v50: 'medium', v85: 'good', v15: 'low', v95: 'muted' } as const;

/**
 * The chart of V15, V50, V85 and V95 per interval: the speeds that 15, 50, 85 and 95 % of the vehicles did not exceed.
 * A comparison shows only V50 and V85, to limit the number of lines.
 */
export function SpeedsCard({ view, from, until }: { view: FlowView; from: Date; until: Date }) {
  const { t, i18n } = useTranslation('traffic');
  const { t: chartText } = useTranslation('chart');
  const time = useServiceTime();
  const vehicles = useVehicles();
  const series = useMemo<Series[]>(
    () => [
      ...PERCENTILES.map((name) => ({
        name: name.toUpperCase(),
        of: (point: Parameters<Series['of']>[0]) => point[name],
        kind: 'number' as const,
        digits: 1,
        unit: t('kmh'),
      })),
      {
        name: t('figures.meanSpeed'),
        of: ({ meanSpeed }) => meanSpeed,
        kind: 'number',
        digits: 1,
        unit: t('kmh'),
      },
    ],
    [t],
  );
  const tooltip = useFlowTooltip(view, series);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const { pairs, second, first, firstName, secondName } = view;
      const { labels, isLabelled } = timeLabels(startsOf(pairs), time, i18n.language);
      const limit = first.speedLimit;
      const shown = second ? (['v50', 'v85'] as const) : PERCENTILES;
      const lines = shown.flatMap((name) => {
        const one = series[PERCENTILES.indexOf(name)];
        if (!one) return [];
        const { token, ...rest } = looks[name];
        const title = (of: string) => (second ? `${one.name}, ${of}` : one.name);
        const own = line({
          name: title(firstName),
          color: look[token],
          data: valuesOf(pairs, 'first', one),
          ...rest,
        });
        if (!second) return [own];
        const other = line({
          name: title(secondName),
          color: look[others[name]],
          data: valuesOf(pairs, 'second', one),
          dash: 'dashed',
          symbol: name === 'v85' ? 'emptyCircle' : 'emptyRect',
          width: 1.5,
        });
        return [own, other];
      });
      const [head, ...rest] = lines;
      const marked =
        limit === null
          ? []
          : [{ name: t('limit', { limit }), color: look.high, at: limit, dash: 'dashed' as const }];
      return {
        grid: { ...grid, top: second ? 72 : 56 },
        legend: legend(look),
        tooltip: tooltip(look),
        xAxis: categoryAxis(look, labels, { isLabelled }),
        yAxis: valueAxis(look, (value) => value.toLocaleString(i18n.language), t('kmh')),
        series: head ? [{ ...head, markLine: marks(look, 'yAxis', marked) }, ...rest] : [],
      };
    },
    [view, series, tooltip, time, i18n.language, t],
  );
  return (
    <ChartCard
      title={t('speeds.title')}
      subject={view.subject}
      n={vehicles(view.first.volume ?? 0, view.second?.volume)}
      from={from}
      until={until}
      table={tableOf(view, series, chartText('start'))}
      draw={draw}
    />
  );
}
