import type { Flow, SpeedDistribution } from '@gantry/contract/traffic';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../shared/chart/echarts.ts';
import type { Look } from '../../shared/chart/look.ts';
import { bars, categoryAxis, grid, legend, line, marks, valueAxis } from '../../shared/chart/parts.ts';
import { tooltipOf } from '../../shared/chart/tooltip.ts';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import type { ChartTable } from '../../shared/csv/csv.ts';
import { binsOf } from './bins.ts';
import { useVehicles } from './vehicle-types.tsx';

interface HistogramCardProps {
  readonly first: SpeedDistribution;
  readonly second: SpeedDistribution | null;
  readonly units: Flow['units'];
  readonly firstName: string;
  readonly secondName: string;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
}

/** The distribution of speeds, with V85 and the limit of `first` marked. A comparison shows shares, not counts. */
export function HistogramCard({
  first,
  second,
  units,
  firstName,
  secondName,
  subject,
  from,
  until,
}: HistogramCardProps) {
  const { t } = useTranslation('traffic');
  const textOf = useCellText();
  const vehicles = useVehicles();
  const bins = useMemo(() => binsOf(first, second), [first, second]);
  const table = useHistogramTable(bins, { first, second, units, firstName, secondName });
  const unit = t(`units.${units}`);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const share = (at: number, of: SpeedDistribution) =>
        bins.map(({ counts }) => (counts[at] ?? 0) / Math.max(1, of.measured));
      const counts = bins.map((bin) => bin.counts[0]);
      const number = (value: number) => textOf(value, { header: '', kind: second ? 'share' : 'number' });
      const { v85, speedLimit } = first;
      const marked = [
        v85 !== null && {
          name: `V85 ${textOf(v85, { header: '', kind: 'number', digits: 1 })}`,
          color: look.accent,
          at: v85,
          dash: 'solid' as const,
        },
        speedLimit !== null && {
          name: t('limit', { limit: speedLimit }),
          color: look.high,
          at: speedLimit,
          dash: 'dashed' as const,
        },
      ]
        .filter((mark) => mark !== false)
        .sort((a, b) => a.at - b.at);
      const ends = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1] as const;
      return {
        grid: { ...grid, top: second ? 72 : 40, bottom: 20 },
        ...(second && { legend: legend(look) }),
        tooltip: tooltipOf(look, 'axis', (at, colorOf) => {
          const [speed, ...values] = table.rows[at] ?? [];
          return {
            title: [`${String(speed)} ${unit}`],
            rows: values.flatMap((value, next) => {
              const column = table.columns[next + 1];
              const color = next < 2 ? colorOf(firstName) : colorOf(secondName);
              return column ? { name: column.header, value: textOf(value, column), color } : [];
            }),
          };
        }),
        // The visible axis has one category per bin. A hidden value axis places V85 and the limit exactly.
        xAxis: [
          categoryAxis(
            look,
            bins.map(({ from: least, to }) => `${least}–${to}`),
            { name: unit },
          ),
          { type: 'value', min: ends[0], max: ends[1], show: false },
        ],
        yAxis: valueAxis(look, number, second ? t('histogram.share') : t('figures.volume')),
        series: [
          bars({ name: firstName, color: look.low, data: second ? share(0, first) : counts, look }),
          ...(second
            ? [bars({ name: secondName, color: look.muted, data: share(1, second), look, isStriped: true })]
            : []),
          {
            ...line({ name: '', color: look.accent, data: [], symbol: 'circle' }),
            xAxisIndex: 1,
            markLine: marks(look, 'xAxis', marked),
          },
        ],
      };
    },
    [bins, first, second, unit, firstName, secondName, table, textOf, t],
  );
  return (
    <ChartCard
      title={t('histogram.title')}
      subject={subject}
      n={t('histogram.n', { vehicles: vehicles(first.measured, second?.measured) })}
      from={from}
      until={until}
      table={table}
      draw={draw}
    >
      {bins.length === 0 && <p className="text-muted">{t('histogram.none')}</p>}
    </ChartCard>
  );
}

/** The figures of the chart: for each bin, the number of vehicles and their share, of both distributions. */
function useHistogramTable(
  bins: ReturnType<typeof binsOf>,
  { first, second, units, firstName, secondName }: Omit<HistogramCardProps, 'subject' | 'from' | 'until'>,
): ChartTable {
  const { t } = useTranslation('traffic');
  return useMemo<ChartTable>(() => {
    const title = (name: string, of: string) => (second ? `${name}, ${of}` : name);
    return {
      columns: [
        { header: t('histogram.speed'), kind: 'text', unit: t(`units.${units}`) },
        { header: title(t('figures.volume'), firstName), kind: 'number' },
        { header: title(t('histogram.share'), firstName), kind: 'share' },
        ...(second
          ? [
              { header: title(t('figures.volume'), secondName), kind: 'number' as const },
              { header: title(t('histogram.share'), secondName), kind: 'share' as const },
            ]
          : []),
      ],
      rows: bins.map(({ from: least, to, counts }) => [
        `${least}–${to}`,
        counts[0],
        counts[0] / Math.max(1, first.measured),
        ...(second ? [counts[1], counts[1] / Math.max(1, second.measured)] : []),
      ]),
    };
  }, [bins, first, second, units, firstName, secondName, t]);
}
