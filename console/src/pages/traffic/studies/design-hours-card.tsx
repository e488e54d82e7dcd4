import type { DesignHoursOfPlace } from '@gantry/contract/figures';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../../shared/chart/echarts.ts';
import type { Look } from '../../../shared/chart/look.ts';
import { categoryAxis, grid, line, marks, valueAxis } from '../../../shared/chart/parts.ts';
import { tooltipOf } from '../../../shared/chart/tooltip.ts';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Reason } from './reasons.tsx';

interface DesignHoursCardProps {
  readonly design: DesignHoursOfPlace;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
}

const RANKS = [30, 50, 100] as const;

/** The 100 hours of a year with most vehicles, in descending order, with the 30th, 50th and 100th marked. */
export function DesignHoursCard({ design, ...card }: DesignHoursCardProps) {
  const { t, i18n } = useTranslation('studies');
  const textOf = useCellText();
  const time = useServiceTime();
  const { hours, aadt, year, reason } = design;
  const table = useMemo<ChartTable>(() => {
    const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: time.zone });
    return {
      columns: [
        { header: t('design.rank'), kind: 'number' },
        { header: t('design.hour'), kind: 'moment' },
        { header: t('daily.weekday'), kind: 'text' },
        { header: t('counts.motorVehicles'), kind: 'number', unit: t('units.perHour') },
        { header: t('design.ofAadt'), kind: 'share', digits: 2 },
        { header: t('design.mark'), kind: 'text' },
      ],
      rows: hours.map(({ start, volume }, at) => [
        at + 1,
        start,
        weekday.format(start),
        volume,
        aadt === null ? null : volume / aadt,
        RANKS.some((rank) => rank === at + 1) ? `K${at + 1}` : '',
      ]),
    };
  }, [hours, aadt, t, i18n.language, time.zone]);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const number = (value: number) => textOf(value, { header: '', kind: 'number' });
      const ks = { 30: design.k30, 50: design.k50, 100: design.k100 };
      const marked = RANKS.filter((rank) => hours.length >= rank).map((rank) => {
        const k = ks[rank];
        const share = k === null ? '' : ` ${textOf(k, { header: '', kind: 'number', digits: 4 })}`;
        return { name: `K${rank}${share}`, color: look.accent, at: rank - 1, dash: 'dashed' as const };
      });
      const isLabelled = (at: number) => at === 0 || (at + 1) % 10 === 0;
      return {
        grid: { ...grid, top: 72, right: 72 },
        tooltip: tooltipOf(look, 'axis', (at) => {
          const [rank, ...values] = table.rows[at] ?? [];
          return {
            title: [`${t('design.rank')} ${rank}`],
            rows: values.flatMap((value, next) => {
              const column = table.columns[next + 1];
              return column && value !== '' ? { name: column.header, value: textOf(value, column) } : [];
            }),
          };
        }),
        xAxis: categoryAxis(
          look,
          hours.map((_, at) => String(at + 1)),
          { isLabelled, name: t('design.rank') },
        ),
        // The hours differ little, so that the axis does not begin at 0.
        yAxis: { ...valueAxis(look, number, t('units.perHour')), min: 'dataMin', scale: true },
        series: [
          {
            ...line({
              name: t('counts.motorVehicles'),
              color: look.low,
              data: hours.map(({ volume }) => volume),
              symbol: 'circle',
            }),
            markLine: marks(look, 'xAxis', marked),
          },
        ],
      };
    },
    [design, hours, table, textOf, t],
  );
  return (
    <ChartCard
      title={t('design.title', { year })}
      n={t('annual.nHours', { count: hours.length })}
      {...{ ...card, table, draw }}
    >
      <p className="text-sm text-muted">{t('design.note')}</p>
      {reason !== null && (
        <p className="text-sm">
          <Reason text={reason} />
        </p>
      )}
    </ChartCard>
  );
}
