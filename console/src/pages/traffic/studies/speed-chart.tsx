import type { SpeedStudyOfPlace } from '@gantry/contract/figures';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../../shared/chart/echarts.ts';
import type { Look } from '../../../shared/chart/look.ts';
import { bars, categoryAxis, grid, line, marks, valueAxis } from '../../../shared/chart/parts.ts';
import { tooltipOf } from '../../../shared/chart/tooltip.ts';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import { limitDigits } from './speed-figures.tsx';
import { barsOf, positionOf, type SpeedBar } from './speed-study.ts';
import { useNumbers } from './use-numbers.ts';

interface SpeedChartProps {
  readonly study: SpeedStudyOfPlace;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
}

/** The name of a class: `50` or `31–35`. */
export const nameOfClass = ({ from, to }: Pick<SpeedBar, 'from' | 'to'>): string =>
  from === to ? `${from}` : `${from}–${to}`;

/** The speeds and their cumulative curve, with the pace, V15, V50, V85 and the limit. */
export function SpeedChart({ study, subject, from, until }: SpeedChartProps) {
  const { t } = useTranslation('studies');
  const { number } = useNumbers();
  const all = useMemo(() => barsOf(study.bins, study.limit), [study]);
  const table = useSpeedTable(all, study.units);
  const draw = useDraw(study, all, table);
  return (
    <ChartCard
      title={t('speed.chart')}
      n={t('nSpeeds', { count: study.n })}
      {...{ subject, from, until, table, draw }}
      height="h-96"
    >
      <p className="text-sm text-muted">
        {[
          t('speed.chartNote'),
          study.pace &&
            t('speed.paceNote', { range: `\u2066${number(study.pace.from)}–${number(study.pace.to)}\u2069` }),
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
    </ChartCard>
  );
}

function useDraw(study: SpeedStudyOfPlace, all: readonly SpeedBar[], table: ChartTable) {
  const { t } = useTranslation('studies');
  const textOf = useCellText();
  const { number } = useNumbers();
  return useCallback(
    (look: Look): ChartOption => {
      const share = (value: number) => textOf(value, { header: '', kind: 'share' });
      const isClassed = study.method === 'CLASSED';
      const markAt = (name: string, speed: number | null, color: string, dash: 'solid' | 'dashed') => {
        const at = speed === null ? null : positionOf(all, speed, isClassed && dash === 'solid');
        const digits = dash === 'solid' ? 1 : limitDigits(speed);
        return speed === null || at === null
          ? []
          : [{ name: `${name} ${number(speed, digits)}`, color, at, dash }];
      };
      const marked = [
        ...markAt('V15', study.v15, look.accent, 'solid'),
        ...markAt('V50', study.v50, look.accent, 'solid'),
        ...markAt('V85', study.v85, look.accent, 'solid'),
        ...markAt(t('speed.limit'), study.limit, look.high, 'dashed'),
      ].sort((a, b) => a.at - b.at);
      const [first] = all;
      // The pace may reach beyond the slowest and the fastest vehicle.
      const endAt = (speed: number) =>
        positionOf(all, speed) ?? (speed < (first?.from ?? 0) ? 0 : all.length);
      const hidden = { type: 'value' as const, min: 0, max: all.length, show: false };
      return {
        grid: { ...grid, top: 24 + 16 * marked.length },
        tooltip: tooltipOf(look, 'axis', (at) => {
          const [name, ...values] = table.rows[at] ?? [];
          return {
            title: [`${String(name)} ${t(`units.${study.units}`)}`],
            rows: values.flatMap((value, next) => {
              const column = table.columns[next + 1];
              return column ? { name: column.header, value: textOf(value, column) } : [];
            }),
          };
        }),
        xAxis: [categoryAxis(look, all.map(nameOfClass), { name: t(`units.${study.units}`) }), hidden],
        yAxis: [
          { ...valueAxis(look, (value) => number(value), t('speed.vehicles')), minInterval: 1 },
          { ...valueAxis(look, share), max: 1, interval: 0.25, splitLine: { show: false } },
        ],
        series: [
          {
            ...bars({
              name: t('speed.vehicles'),
              color: look.low,
              data: all.map(({ count }) => count),
              look,
            }),
            // The curve and the marks are drawn over the bars.
            itemStyle: { color: look.low, opacity: 0.5 },
          },
          {
            ...line({ name: t('speed.upTo'), color: look.text, data: [], symbol: 'circle' }),
            xAxisIndex: 1,
            yAxisIndex: 1,
            symbol: 'none',
            silent: true,
            data: [[0, 0], ...all.map(({ upTo }, at) => [at + 1, upTo])],
            markLine: marks(look, 'xAxis', marked),
            ...(study.pace && {
              markArea: {
                silent: true,
                itemStyle: { color: look.accent, opacity: 0.12 },
                data: [[{ xAxis: endAt(study.pace.from) }, { xAxis: endAt(study.pace.to) }]],
              },
            }),
          },
        ],
      };
    },
    [study, all, table, textOf, number, t],
  );
}

function useSpeedTable(all: readonly SpeedBar[], units: SpeedStudyOfPlace['units']): ChartTable {
  const { t } = useTranslation('studies');
  return useMemo(() => {
    const n = all.reduce((sum, { count }) => sum + count, 0);
    return {
      columns: [
        { header: t('speed.speed'), kind: 'text', unit: t(`units.${units}`) },
        { header: t('speed.vehicles'), kind: 'number' },
        { header: t('speed.share'), kind: 'share' },
        { header: t('speed.upTo'), kind: 'share' },
      ],
      rows: all.map((bar) => [nameOfClass(bar), bar.count, n > 0 ? bar.count / n : null, bar.upTo]),
    };
  }, [all, units, t]);
}
