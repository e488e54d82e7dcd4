import type { Analytics } from '@gantry/contract/analytics';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
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
import { GAP, useCellText } from '../../shared/chart/use-cell-text.ts';
import { useIntervalText } from '../../shared/chart/use-interval-text.ts';
import type { ChartTable } from '../../shared/csv/csv.ts';
import type { DayRange } from '../../shared/range/days.ts';
import { Failure } from '../../shared/service/failure.tsx';
import { useSeesPlates } from '../../shared/service/plates.tsx';
import { service } from '../../shared/service/service.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { Icon } from '../../ui/icon.tsx';
import { ScrolledTable } from '../../ui/scrolled-table.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A duration in the largest unit of which it has at least one. */
function lengthText(seconds: number | null, language: string): string {
  if (seconds === null) return GAP;
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) ?? ['second', 1];
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 1,
  }).format(seconds / size);
}

/** How long it took until events were marked as processed: median, mean and 90th percentile. */
export function ProcessingTime({ times }: { readonly times: Analytics['processingTime'] }) {
  const { t, i18n } = useTranslation('reports');
  const { count, median, mean, p90 } = times;
  const rows = [
    [t('processing.median'), lengthText(median, i18n.language)],
    [t('processing.mean'), lengthText(mean, i18n.language)],
    [t('processing.p90'), lengthText(p90, i18n.language)],
  ] as const;
  return (
    <section className="flex min-w-0 flex-col gap-2 self-start rounded-md border bg-surface p-3">
      <header>
        <h2 className="text-lg font-semibold">{t('processing.title')}</h2>
        <p className="figures text-sm text-muted">{t('processing.n', { count })}</p>
      </header>
      <dl className="grid gap-2 sm:grid-cols-3">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt className="text-sm text-muted">{name}</dt>
            <dd className="figures text-xl font-semibold">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

interface RepeatPlatesProps {
  readonly days: DayRange;
  readonly from: Date;
}

/** The plates seen most often, with links to their events. Roles that see no plates get `PlatesHidden` instead. */
export function RepeatPlates({ days, from }: RepeatPlatesProps) {
  const { t, i18n } = useTranslation('reports');
  const seesPlates = useSeesPlates();
  // A question of its own: it takes longer than the other figures of the page.
  const query = useQuery({
    ...service.reports.getRepeatPlates.queryOptions(days),
    enabled: seesPlates,
    staleTime: 60_000,
  });
  if (!seesPlates) return null;
  const { since = from, plates = [] } = query.data ?? {};
  return (
    <section className="flex min-w-0 flex-col gap-2 rounded-md border bg-surface p-3">
      <header>
        <h2 className="text-lg font-semibold">{t('plates.title')}</h2>
        {since > from && (
          <p className="text-sm text-muted">
            {t('plates.since')} <Moment at={since} />
          </p>
        )}
      </header>
      {query.error && <Failure error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton rows={6} />}
      {query.data && plates.length === 0 && <p className="text-muted">{t('plates.none')}</p>}
      {plates.length > 0 && (
        <ScrolledTable
          label={t('plates.title')}
          head="bg-raised"
          rows={plates}
          keyOf={({ licensePlateNumber }) => licensePlateNumber}
          columns={[
            {
              header: t('filters.licensePlateNumber'),
              cell: ({ licensePlateNumber }) => (
                <Link
                  to="/events"
                  search={{ licensePlateNumber }}
                  className="text-accent underline-offset-2 hover:underline"
                >
                  <bdi className="font-mono">{licensePlateNumber}</bdi>
                </Link>
              ),
            },
            {
              header: t('plates.seen'),
              isFigure: true,
              cell: ({ count }) => count.toLocaleString(i18n.language),
            },
            { header: t('plates.last'), isFigure: true, cell: ({ lastSeen }) => <Moment at={lastSeen} /> },
          ]}
        />
      )}
    </section>
  );
}

const names = ['events', 'violations', 'incidents', 'processed', 'unprocessed', 'archived'] as const;

/** Changes of 1000 % or more are not shown: they only mean that the previous value was very small. */
const MAX_CHANGE = 10;

/** The totals of a range, compared with the previous period of the same length. */
export function Totals({ analytics }: { readonly analytics: Analytics }) {
  const { totals, firstEventAt, start, end } = analytics;
  const { t, i18n } = useTranslation('reports');
  const number = (value: number) => value.toLocaleString(i18n.language);
  const change = new Intl.NumberFormat(i18n.language, {
    style: 'percent',
    signDisplay: 'exceptZero',
    maximumFractionDigits: 1,
  });
  // The comparison of a whole period with a part of one says nothing.
  const previousStart = 2 * start.getTime() - end.getTime();
  const isPartial = firstEventAt !== null && firstEventAt.getTime() > previousStart && firstEventAt < start;
  return (
    <>
      {isPartial && (
        <p className="mb-2 text-sm text-muted">
          <Icon name="help" size={14} className="me-1 inline align-text-bottom" />
          {t('totals.partial')} <Moment at={firstEventAt} />
        </p>
      )}
      <dl className="grid grid-cols-2 gap-2 sm:grid-cols-3 xl:grid-cols-6">
        {names.map((name) => {
          const { value, previous, change: since } = totals[name];
          return (
            <div key={name} className="flex flex-col rounded-md border bg-surface px-3 py-2">
              <dt className="text-sm text-muted">{t(`totals.${name}`)}</dt>
              <dd className="figures">
                <span className="text-xl font-semibold">{number(value)}</span>
                <p className="text-sm text-muted">
                  {since !== null && !isPartial && Math.abs(since) < MAX_CHANGE && (
                    <>
                      <bdi dir="ltr">{change.format(since)}</bdi> ·{' '}
                    </>
                  )}
                  {previous === null ? t('totals.unknown') : t('totals.previous', { n: number(previous) })}
                </p>
              </dd>
            </div>
          );
        })}
      </dl>
    </>
  );
}

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
