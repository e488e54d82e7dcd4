import type { DailyVolumesOfPlace } from '@gantry/contract/figures';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../../shared/chart/echarts.ts';
import type { Look } from '../../../shared/chart/look.ts';
import {
  bars,
  categoryAxis,
  gapAxes,
  gaps,
  grid,
  legend,
  marks,
  valueAxis,
} from '../../../shared/chart/parts.ts';
import { tooltipOf } from '../../../shared/chart/tooltip.ts';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import { useSpan } from '../../../shared/chart/use-zone-note.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import type { DayRange } from '../../../shared/range/days.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Empty } from '../../../ui/empty.tsx';
import { ScrolledTable } from '../../../ui/scrolled-table.tsx';
import type { Place } from '../comparison.ts';
import { usePlaceName } from '../place.tsx';
import { Reason, useReasonText } from './reasons.tsx';
import { Loaded } from './states.tsx';
import { FigureTile, Tiles } from './tile.tsx';
import { useNumbers } from './use-numbers.ts';

interface DailyViewProps {
  readonly place: Place;
  readonly days: DayRange;
}

/** The volumes of the days of a period, their means, and the days that are in none. */
export function DailyView({ place, days }: DailyViewProps) {
  const { t } = useTranslation('studies');
  const name = usePlaceName(place);
  const volumes = useQuery({
    ...service.traffic.getDailyVolumes.queryOptions({ ...place, ...days }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <section aria-label={t('daily.label')}>
      <h2 className="px-4 pt-3 text-lg font-semibold">{t('daily.label')}</h2>
      <Loaded queries={[volumes]}>
        {() => {
          if (!volumes.data) return null;
          if (volumes.data.days.every(({ volume }) => volume === null))
            return (
              <Empty icon="none" title={t('counts.nothing')}>
                {t('daily.nothingText')}
              </Empty>
            );
          return (
            <>
              <MeanTiles volumes={volumes.data} {...{ name, days }} />
              <DaysCard volumes={volumes.data} {...{ name, days }} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

interface CardProps {
  readonly volumes: DailyVolumesOfPlace;
  readonly name: string;
  readonly days: DayRange;
}

/** The means of all complete days, of those from Monday to Friday, and of weekends. */
function MeanTiles({ volumes, name, days }: CardProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const { number } = useNumbers();
  const { adt, awdt, weekendAdt, excluded } = volumes;
  const means = [
    ['adt', adt],
    ['awdt', awdt],
    ['weekendAdt', weekendAdt],
  ] as const;
  return (
    <Tiles>
      {means.map(([kind, { value, n }]) => (
        <FigureTile
          key={kind}
          figure={{
            kind,
            label: t(`tiles.${kind}`),
            value: number(value),
            unit: t('units.perDay'),
            n: t('nCompleteDays', { count: n }),
            method: t('methods.completeDays'),
            status: n > 0 ? 'VALID' : 'INSUFFICIENT',
            more: [[t('daily.exact'), number(value, 3)]],
          }}
          subject={[
            [t('place'), name],
            [t('period'), `\u2066${time.days(days)}\u2069`],
            [t('zone'), time.zone],
          ]}
        >
          {n === 0 && <p className="text-sm">{t('daily.noDay')}</p>}
          {kind === 'adt' && excluded.length > 0 && (
            <p className="text-sm">{t('daily.excluded', { count: excluded.length })}</p>
          )}
        </FigureTile>
      ))}
    </Tiles>
  );
}

/** The volume of each day, with those that are in no mean, and why. */
function DaysCard({ volumes, name, days }: CardProps) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const { excluded, adt } = volumes;
  const table = useDaysTable(volumes);
  const draw = useDraw(volumes, table);
  const [from, until] = useSpan(days);
  return (
    <ChartCard
      title={t('daily.title', { days: `\u2068${time.days(days)}\u2069` })}
      subject={name}
      n={t('nCompleteDays', { count: adt.n })}
      {...{ from, until, table, draw }}
    >
      {excluded.length > 0 && (
        <div>
          <h3 className="font-medium">{t('daily.excludedTitle')}</h3>
          <ScrolledTable
            label={t('daily.excludedTitle')}
            className="max-h-56"
            head="bg-surface"
            columns={[
              {
                header: t('file.date'),
                isLeftToRight: true,
                shown: 'w-32 whitespace-nowrap',
                cell: ({ date }: (typeof excluded)[number]) => time.day(date),
              },
              { header: t('howLabels.reason'), cell: ({ reason }) => <Reason text={reason} /> },
            ]}
            rows={excluded}
            keyOf={({ date }) => date}
          />
        </div>
      )}
    </ChartCard>
  );
}

function useDaysTable({ days }: DailyVolumesOfPlace): ChartTable {
  const { t, i18n } = useTranslation('studies');
  const reasonText = useReasonText();
  return useMemo(() => {
    const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', timeZone: 'UTC' });
    return {
      columns: [
        { header: t('file.date'), kind: 'day' },
        { header: t('daily.weekday'), kind: 'text' },
        { header: t('counts.motorVehicles'), kind: 'number' },
        { header: t('file.status'), kind: 'text' },
        { header: t('howLabels.reason'), kind: 'text' },
      ],
      rows: days.map(({ date, volume, status, reason }) => [
        date,
        weekday.format(new Date(date)),
        volume,
        t(`status.${status}`),
        reason === null ? null : reasonText(reason),
      ]),
    };
  }, [days, t, i18n.language, reasonText]);
}

function useDraw({ days, adt }: DailyVolumesOfPlace, table: ChartTable) {
  const { t } = useTranslation('studies');
  const time = useServiceTime();
  const textOf = useCellText();
  return useCallback(
    (look: Look): ChartOption => {
      const number = (value: number) => textOf(value, { header: '', kind: 'number' });
      const labels = days.map(({ date }, at) => `${table.rows[at]?.[1]}\n${time.day(date)}`);
      const hidden = gapAxes(labels);
      const ofKind = (isWhole: boolean) =>
        days.map(({ status, volume }) => ((status === 'VALID') === isWhole ? volume : null));
      return {
        grid: { ...grid, top: 48, right: 88 },
        legend: legend(look),
        tooltip: tooltipOf(look, 'axis', (at) => {
          const [, , ...values] = table.rows[at] ?? [];
          return {
            title: [labels[at]?.replace('\n', ' ') ?? ''],
            rows: values.flatMap((value, next) => {
              const column = table.columns[next + 2];
              return column && value !== null ? { name: column.header, value: textOf(value, column) } : [];
            }),
          };
        }),
        xAxis: [categoryAxis(look, labels), hidden.x],
        yAxis: [valueAxis(look, number), hidden.y],
        series: [
          {
            ...bars({ name: t('daily.complete'), color: look.low, data: ofKind(true), look }),
            stack: 'day',
            ...(adt.value !== null && {
              markLine: marks(look, 'yAxis', [
                {
                  name: `ADT ${number(adt.value)}`,
                  color: look.accent,
                  at: adt.value,
                  dash: 'solid',
                  isBeside: true,
                },
              ]),
            }),
          },
          {
            ...bars({
              name: t('daily.notComplete'),
              color: look.muted,
              data: ofKind(false),
              look,
              isStriped: true,
            }),
            stack: 'day',
          },
          gaps(
            look,
            t('status.GAP'),
            days.map(({ volume }) => volume === null),
          ),
        ],
      };
    },
    [days, adt, table, textOf, time, t],
  );
}
