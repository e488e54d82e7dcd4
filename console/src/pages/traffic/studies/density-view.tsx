import type { DensityOfPlace } from '@gantry/contract/headways';
import type { SpeedUnits } from '@gantry/contract/values';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../../shared/chart/chart-card.tsx';
import type { ChartOption } from '../../../shared/chart/echarts.ts';
import type { Look } from '../../../shared/chart/look.ts';
import { categoryAxis, grid, line, valueAxis } from '../../../shared/chart/parts.ts';
import { timeLabels } from '../../../shared/chart/time-axis.ts';
import { tooltipOf } from '../../../shared/chart/tooltip.ts';
import { useCellText } from '../../../shared/chart/use-cell-text.ts';
import { useIntervalText } from '../../../shared/chart/use-interval-text.ts';
import type { ChartTable } from '../../../shared/csv/csv.ts';
import type { DayRange } from '../../../shared/range/days.ts';
import { service } from '../../../shared/service/service.ts';
import { useServiceTime } from '../../../shared/time/use-time.ts';
import type { Place } from '../comparison.ts';
import { usePlaceName } from '../place.tsx';
import { Loaded } from './states.tsx';
import { FigureTile, Tiles } from './tile.tsx';
import { useNumbers } from './use-numbers.ts';

interface DensityChoice {
  readonly place: Place;
  readonly days: DayRange;
  readonly interval: DensityOfPlace['interval'];
  /** Absent: those of the place. */
  readonly units: SpeedUnits | undefined;
}

type Bin = DensityOfPlace['bins'][number];

/** The density at a place: its greatest value as a tile, and its course. */
export function DensityView({ choice }: { readonly choice: DensityChoice }) {
  const { place, days, interval, units } = choice;
  const density = useQuery({
    ...service.traffic.getDensity.queryOptions({ ...place, ...days, interval, ...(units && { units }) }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return (
    <Loaded queries={[density]}>
      {() =>
        density.data && (
          <>
            <DensityTile {...{ choice, density: density.data }} />
            <DensityCard {...{ choice, density: density.data }} />
          </>
        )
      }
    </Loaded>
  );
}

/** The interval with the greatest density; of several, the first. */
function densest(bins: readonly Bin[]): Bin | undefined {
  const known = bins.filter(({ density }) => density !== null);
  return known.reduce<Bin | undefined>(
    (most, bin) => (most && (most.density ?? 0) >= (bin.density ?? 0) ? most : bin),
    undefined,
  );
}

function DensityTile({ choice, density }: { choice: DensityChoice; density: DensityOfPlace }) {
  const { t } = useTranslation('studies');
  const { number } = useNumbers();
  const time = useServiceTime();
  const intervalText = useIntervalText();
  const name = usePlaceName(choice.place);
  const { bins, units, lanes } = density;
  const most = densest(bins);
  const known = bins.filter((bin) => bin.density !== null).length;
  const length = bins.reduce((sum, { start, end }) => sum + (end.getTime() - start.getTime()), 0);
  const covered = bins.reduce(
    (sum, { start, end, coverage }) => sum + coverage * (end.getTime() - start.getTime()),
    0,
  );
  const when = most && intervalText(most.start, most.end).join(', ');
  const speed = most?.spaceMeanSpeed ?? null;
  return (
    <Tiles>
      <FigureTile
        figure={{
          kind: 'density',
          label: t('density.most'),
          value: most ? number(most.density, 1) : null,
          unit: t(`density.unit.${units}`),
          n: t('nIntervals', { n: number(known), of: number(bins.length) }),
          coverage: length === 0 ? 0 : covered / length,
          method: t(most?.basis === 'OCCUPANCY' ? 'methods.occupancy' : 'methods.density'),
          status: most?.status ?? 'INSUFFICIENT',
          reason: most ? null : (bins.find(({ reason }) => reason !== null)?.reason ?? null),
          more: [
            [t('density.when'), when ?? null],
            [t('density.flow'), most?.flow == null ? null : `${number(most.flow)} ${t('units.perHour')}`],
            [t('density.speed'), speed === null ? null : `${number(speed, 1)} ${t(`units.${units}`)}`],
            [t('density.lanes'), lanes === null ? null : number(lanes)],
          ],
        }}
        subject={[
          [t('place'), name],
          [t('period'), time.days(choice.days)],
          [t('zone'), time.zone],
        ]}
      >
        {when !== undefined && <p className="figures text-sm">{when}</p>}
      </FigureTile>
    </Tiles>
  );
}

/** The density by interval as a line, with flow and speed in the table and the file. */
function DensityCard({ choice, density }: { choice: DensityChoice; density: DensityOfPlace }) {
  const { t, i18n } = useTranslation('studies');
  const { t: chart } = useTranslation('chart');
  const { number } = useNumbers();
  const textOf = useCellText();
  const intervalText = useIntervalText();
  const time = useServiceTime();
  const name = usePlaceName(choice.place);
  const { bins, units } = density;
  const unit = t(`density.unit.${units}`);
  const table = useMemo<ChartTable>(
    () => ({
      columns: [
        { header: chart('start'), kind: 'moment' },
        { header: t('density.title'), kind: 'number', digits: 1, unit },
        { header: t('density.flow'), kind: 'number', unit: t('units.perHour') },
        { header: t('density.speed'), kind: 'number', digits: 1, unit: t(`units.${units}`) },
        { header: t('howLabels.coverage'), kind: 'share' },
        { header: t('howLabels.status'), kind: 'text' },
      ],
      rows: bins.map(({ start, density: value, flow, spaceMeanSpeed, coverage, status }) => [
        start,
        value,
        flow,
        spaceMeanSpeed,
        coverage,
        t(`status.${status}`),
      ]),
    }),
    [bins, units, unit, t, chart],
  );
  const draw = useCallback(
    (look: Look): ChartOption => {
      const starts = bins.map(({ start }) => start);
      const { labels, isLabelled } = timeLabels(starts, time, i18n.language);
      return {
        grid: { ...grid, top: 56 },
        tooltip: tooltipOf(look, 'axis', (at) => {
          const bin = bins[at];
          const cells = table.rows[at] ?? [];
          return {
            title: bin ? intervalText(bin.start, bin.end) : [],
            rows: table.columns.slice(1).map((column, next) => ({
              name: column.header,
              value: [textOf(cells[next + 1] ?? null, column), column.unit].filter(Boolean).join(' '),
            })),
          };
        }),
        xAxis: categoryAxis(look, labels, { isLabelled }),
        yAxis: valueAxis(look, (value) => value.toLocaleString(i18n.language), unit),
        series: [
          line({
            name: t('density.title'),
            color: look.low,
            data: bins.map((bin) => bin.density),
            symbol: 'circle',
          }),
        ],
      };
    },
    [bins, table, unit, time, i18n.language, intervalText, textOf, t],
  );
  const known = bins.filter((bin) => bin.density !== null).length;
  const [first, last] = [bins[0], bins.at(-1)];
  if (!first || !last) return null;
  return (
    <ChartCard
      title={t('density.title')}
      subject={name}
      n={t('nIntervals', { n: number(known), of: number(bins.length) })}
      from={first.start}
      until={last.end}
      {...{ table, draw }}
    />
  );
}
