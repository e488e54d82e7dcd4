import type { AadtOfPlace, AnnualInput, DesignHoursOfPlace, FactorsOfPlace } from '@gantry/contract/figures';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../../shared/chart/echarts.ts';
import type { Look } from '../../../shared/chart/look.ts';
import { bars, categoryAxis, gapAxes, gaps, grid, marks, valueAxis } from '../../../shared/chart/parts.ts';
import { tooltipOf } from '../../../shared/chart/tooltip.ts';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import { Empty } from '../../../ui/empty.tsx';
import type { Place } from '../comparison.ts';
import { usePlaceName } from '../place.tsx';
import { DesignHoursCard } from './design-hours-card.tsx';
import { FactorsCard } from './factors-card.tsx';
import { Loaded } from './states.tsx';
import { FigureTile, Tiles } from './tile.tsx';
import { useNumbers } from './use-numbers.ts';

interface AnnualViewProps {
  readonly place: Place;
  readonly input: Place & Pick<AnnualInput, 'year' | 'method' | 'allowMissing'>;
}

/** The annual average of a place, its months, factors and design hours. */
export function AnnualView({ place, input }: AnnualViewProps) {
  const { t } = useTranslation('studies');
  const options = { placeholderData: keepPreviousData, staleTime: 300_000 };
  const aadt = useQuery({ ...service.traffic.getAadt.queryOptions(input), ...options });
  const factors = useQuery({ ...service.traffic.getFactors.queryOptions(input), ...options });
  const design = useQuery({ ...service.traffic.getDesignHours.queryOptions(input), ...options });
  const name = usePlaceName(place);
  return (
    <section aria-label={t('annual.label', { year: input.year })} className="border-t">
      <h2 className="px-4 pt-3 text-lg font-semibold">{t('annual.label', { year: input.year })}</h2>
      <Loaded queries={[aadt, factors, design]}>
        {() => {
          if (!aadt.data || !factors.data || !design.data) return null;
          const { year } = aadt.data;
          const isKnown = design.data.validHours > 0 || design.data.hours.length > 0;
          if (!isKnown && aadt.data.value === null)
            return (
              <Empty icon="none" title={t('annual.nothing', { year })}>
                {t('annual.nothingText')}
              </Empty>
            );
          // From the days of the year, so that both offsets of the zone are named.
          const card = {
            subject: name,
            from: new Date(Date.UTC(year, 0, 1, 12)),
            until: new Date(Date.UTC(year, 11, 31, 12)),
          };
          return (
            <>
              <AnnualTiles aadt={aadt.data} design={design.data} name={name} />
              <MonthsCard aadt={aadt.data} factors={factors.data} {...card} />
              <FactorsCard factors={factors.data} {...card} />
              <DesignHoursCard design={design.data} {...card} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

interface AnnualTilesProps {
  readonly aadt: AadtOfPlace;
  readonly design: DesignHoursOfPlace;
  readonly name: string;
}

/** AADT as it is published, K30 and the volume of the design hour. */
function AnnualTiles({ aadt, design, name }: AnnualTilesProps) {
  const { t } = useTranslation('studies');
  const { zone } = useServiceTime();
  const { number } = useNumbers();
  const { method, value, published, n, status, reason, year } = aadt;
  const { k30, k50, k100, designHourVolume, validHours } = design;
  const subject = [
    [t('place'), name],
    [t('period'), String(year)],
    [t('zone'), zone],
  ] as const;
  const k = (share: number | null) => number(share, 4);
  const hours = {
    n: t('annual.nHours', { count: design.hours.length }),
    coverage: validHours,
    status: design.status,
    reason: design.reason,
  };
  return (
    <Tiles>
      <FigureTile
        figure={{
          ...{ kind: 'aadt', label: t('annual.aadt', { year }), value: number(published), status, reason },
          unit: t('units.perDay'),
          n: method === 'SIMPLE' ? t('nCompleteDays', { count: n }) : t('annual.nMonths', { n, of: 12 }),
          method: t(`methods.${method}`),
          more: [
            [t('daily.exact'), number(value, 3)],
            [t('annual.rounding'), t('annual.roundingText')],
          ],
        }}
        subject={subject}
      >
        {value !== null && (
          <p className="figures text-sm">{t('annual.unrounded', { value: number(value) })}</p>
        )}
      </FigureTile>
      <FigureTile
        figure={{
          ...{ ...hours, kind: 'k30', label: t('annual.k30'), value: k(k30), method: t('methods.k30') },
          more: [
            ['K50', k(k50)],
            ['K100', k(k100)],
          ],
        }}
        subject={subject}
      >
        {k30 !== null && (
          <p className="figures text-sm">
            <bdi dir="ltr">{`K50 ${k(k50)} · K100 ${k(k100)}`}</bdi>
          </p>
        )}
      </FigureTile>
      <FigureTile
        figure={{
          ...{ ...hours, kind: 'designHour', label: t('annual.designHour'), method: t('methods.designHour') },
          value: number(designHourVolume),
          unit: t('units.perHour'),
        }}
        subject={subject}
      />
    </Tiles>
  );
}

interface MonthsCardProps {
  readonly aadt: AadtOfPlace;
  readonly factors: FactorsOfPlace;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
}

/** The average daily traffic of each month beside that of the year. */
function MonthsCard({ aadt, factors, ...card }: MonthsCardProps) {
  const { t, i18n } = useTranslation('studies');
  const textOf = useCellText();
  const { months, value, year } = aadt;
  const table = useMemo<ChartTable>(() => {
    const name = new Intl.DateTimeFormat(i18n.language, { month: 'short', timeZone: 'UTC' });
    return {
      columns: [
        { header: t('annual.month'), kind: 'text' },
        { header: t('annual.madt'), kind: 'number', unit: t('units.perDay') },
        { header: t('annual.monthFactor'), kind: 'number', digits: 3 },
      ],
      rows: months.map(({ month, value: mean }) => [
        name.format(new Date(Date.UTC(year, month - 1))),
        mean,
        factors.months.find((each) => each.month === month)?.factor ?? null,
      ]),
    };
  }, [months, factors, year, t, i18n.language]);
  const draw = useCallback(
    (look: Look): ChartOption => {
      const number = (of: number) => textOf(of, { header: '', kind: 'number' });
      const labels = table.rows.map(([name]) => String(name));
      const hidden = gapAxes(labels);
      return {
        grid: { ...grid, right: 88 },
        tooltip: tooltipOf(look, 'axis', (at) => {
          const [name, ...values] = table.rows[at] ?? [];
          return {
            title: [`${name} ${year}`],
            rows: values.flatMap((each, next) => {
              const column = table.columns[next + 1];
              return column ? { name: column.header, value: textOf(each, column) } : [];
            }),
          };
        }),
        xAxis: [categoryAxis(look, labels), hidden.x],
        yAxis: [valueAxis(look, number, t('units.perDay')), hidden.y],
        series: [
          {
            ...bars({
              name: t('annual.madt'),
              color: look.low,
              data: months.map((each) => each.value),
              look,
            }),
            ...(value !== null && {
              markLine: marks(look, 'yAxis', [
                {
                  name: `AADT ${number(value)}`,
                  color: look.accent,
                  at: value,
                  dash: 'solid',
                  isBeside: true,
                },
              ]),
            }),
          },
          gaps(
            look,
            t('status.GAP'),
            months.map((each) => each.value === null),
          ),
        ],
      };
    },
    [months, value, year, table, textOf, t],
  );
  const known = months.filter((each) => each.value !== null).length;
  return (
    <ChartCard
      title={t('annual.months', { year })}
      n={t('annual.nMonths', { n: known, of: 12 })}
      {...{ ...card, table, draw }}
    >
      {known < 12 && <p className="text-sm text-muted">{t('annual.monthsNote')}</p>}
    </ChartCard>
  );
}
