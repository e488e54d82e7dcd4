import type { PerformanceFigures } from '@gantry/contract/incident-work';
import type { IncidentStats } from '@gantry/contract/incidents';
import { permissionNames } from '@gantry/contract/permissions';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { CardFrame } from '../../shared/chart/card-frame.tsx';
import { ShareTable } from '../../shared/chart/share-table.tsx';
import { GAP } from '../../shared/chart/use-cell-text.ts';
import { useSpan, useZoneNote } from '../../shared/chart/use-zone-note.ts';
import type { ChartTable } from '../../shared/csv/csv.ts';
import type { Filter } from '../../shared/filters/filter.ts';
import { FilterBar } from '../../shared/filters/filter-bar.tsx';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { roadLookUp } from '../../shared/places/look-ups.ts';
import { type DayRange, rangeOfPreset } from '../../shared/range/days.ts';
import { RangePicker, useToday } from '../../shared/range/range-picker.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { BackLink } from '../../ui/links.tsx';
import { ScrolledTable } from '../../ui/scrolled-table.tsx';
import { Skeleton, ThinBar, useLasting } from '../../ui/skeleton.tsx';
import { kindFilters } from './use-filters.ts';

type Performance = IncidentStats['performance'];

/** How fast incidents were cleared: medians and 90th percentiles by type, severity and road, and false alarms by sensor. */
export function PerformancePage() {
  const { t } = useTranslation('incidents');
  const today = useToday();
  if (!useMay('manageIncidents')) return <NotAllowed permission={permissionNames.manageIncidents} />;
  return (
    <>
      <PageHeader
        subject={t('performance.title')}
        title={
          <>
            <BackLink to="/incidents" aria-label={t('back')} />
            {t('performance.title')}
          </>
        }
      />
      {today === null ? <Skeleton rows={12} /> : <Figures today={today} />}
    </>
  );
}

function Figures({ today }: { readonly today: string }) {
  const { t } = useTranslation(['incidents', 'common']);
  const search = useSearch({ from: '/shell/incidents/performance' });
  const navigate = useNavigate({ from: '/incidents/performance' });
  const usual = rangeOfPreset('last30', today);
  const { startDate = usual.startDate, endDate = usual.endDate, ...of } = search;
  const days = startDate <= endDate ? { startDate, endDate } : usual;
  const query = useQuery({
    ...service.incidents.getStats.queryOptions({ ...of, ...days }),
    placeholderData: keepPreviousData,
  });
  const looksOutdated = useLasting(query.isPlaceholderData);
  const filters = useMemo<readonly Filter[]>(
    () => [...kindFilters(t), { kind: 'lookUp', name: 'road', label: t('performance.road'), ...roadLookUp }],
    [t],
  );
  const change = (values: object) =>
    void navigate({ search: (all) => ({ ...all, ...values }), replace: true });
  return (
    <div className="min-h-0 grow overflow-y-auto">
      <div className="flex flex-wrap items-end gap-x-3 gap-y-2 border-b px-4 py-2">
        <RangePicker range={days} today={today} onChange={change} />
      </div>
      <FilterBar filters={filters} values={of} onChange={change} />
      <ThinBar active={query.isFetching} />
      {query.error && (
        <div className="p-3">
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.isPending && <Skeleton rows={12} />}
      {query.data && !query.error && (
        <div inert={query.isPlaceholderData} className={looksOutdated ? 'stale' : undefined}>
          <Cards performance={query.data.performance} days={days} />
        </div>
      )}
    </div>
  );
}

interface CardsProps {
  readonly performance: Performance;
  readonly days: DayRange;
}

function Cards({ performance, days }: CardsProps) {
  const { t, i18n } = useTranslation(['incidents', 'common']);
  const time = useServiceTime();
  const { overall, byType, bySeverity, byRoad, falseAlarms, secondaries, respondersStruck } = performance;
  const known = <Row extends PerformanceFigures>(rows: readonly Row[]) =>
    rows.filter(({ incidents }) => incidents > 0);
  const [from, until] = useSpan(days);
  const subject = time.days(days);
  return (
    <div className="grid gap-3 p-4 min-[1700px]:grid-cols-2">
      <Card
        {...{ subject, from, until }}
        title={t('performance.overall')}
        rows={[{ name: t('performance.all'), ...overall }]}
        note={t('performance.others', {
          secondaries: secondaries.toLocaleString(i18n.language),
          struck: respondersStruck.toLocaleString(i18n.language),
        })}
      />
      <Card
        {...{ subject, from, until }}
        title={t('performance.byType')}
        rows={known(byType).map((row) => ({ name: t(`common:incidentTypes.${row.type}`), ...row }))}
      />
      <Card
        {...{ subject, from, until }}
        title={t('performance.bySeverity')}
        rows={known(bySeverity).map((row) => ({ name: t(`common:severity.${row.severity}`), ...row }))}
      />
      <Card
        {...{ subject, from, until }}
        title={t('performance.byRoad')}
        rows={known(byRoad).map((row) => ({ name: row.road ?? t('performance.noRoad'), ...row }))}
      />
      <ShareTable
        {...{ subject, from, until }}
        title={t('performance.falseAlarms')}
        n={t('performance.alarms', { count: falseAlarms.total })}
        none={t('performance.noFalseAlarms')}
        table={{
          columns: [
            { header: t('fields.sensor'), kind: 'text' },
            { header: t('performance.number'), kind: 'number' },
          ],
          rows: falseAlarms.bySensor.map(({ name, count }) => [name ?? t('performance.noSensor'), count]),
        }}
      />
      <p className="text-sm text-muted min-[1700px]:col-span-2">
        {t('performance.how')}{' '}
        <Link to="/reports/schedules" className="text-accent underline">
          {t('performance.report')}
        </Link>
      </p>
    </div>
  );
}

interface CardProps {
  readonly title: string;
  readonly subject: string;
  readonly from: Date;
  readonly until: Date;
  readonly rows: readonly (PerformanceFigures & { readonly name: string })[];
  readonly note?: string;
}

/** A table of clearance times, with the number of incidents of which each is known. */
function Card({ title, subject, from, until, rows, note }: CardProps) {
  const { t, i18n } = useTranslation('incidents');
  const zone = useZoneNote(from, until);
  const time = useServiceTime();
  const length = (seconds: number | null) => (seconds === null ? GAP : time.duration(seconds * 1000));
  const kinds = ['roadwayClearance', 'incidentClearance'] as const;
  const total = rows.reduce((sum, { incidents }) => sum + incidents, 0);
  const table: ChartTable = {
    columns: [
      { header: title, kind: 'text' },
      { header: t('performance.incidents'), kind: 'number' },
      ...kinds.flatMap((kind) => [
        { header: `${t(`performance.${kind}`)} ${t('performance.known')}`, kind: 'number' as const },
        {
          header: `${t(`performance.${kind}`)} ${t('performance.median')} (s)`,
          kind: 'number' as const,
          digits: 1,
        },
        {
          header: `${t(`performance.${kind}`)} ${t('performance.p90')} (s)`,
          kind: 'number' as const,
          digits: 1,
        },
      ]),
    ],
    rows: rows.map((row) => [
      row.name,
      row.incidents,
      ...kinds.flatMap((kind) => [row[kind].count, row[kind].median, row[kind].percentile90]),
    ]),
  };
  return (
    <CardFrame {...{ title, subject, table, zone }} n={t('performance.n', { count: total })}>
      {rows.length === 0 ? (
        <p className="text-muted">{t('performance.none')}</p>
      ) : (
        <ScrolledTable
          label={title}
          head="bg-surface"
          className="max-h-96"
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            // Beside six columns of figures, a name would otherwise be as narrow as one letter.
            { header: title, hideHeader: true, shown: 'min-w-32', cell: ({ name }) => <bdi>{name}</bdi> },
            ...kinds.flatMap((kind) => [
              {
                header: `${t(`performance.${kind}`)}: ${t('performance.median')}`,
                isFigure: true,
                cell: (row: PerformanceFigures) => length(row[kind].median),
              },
              {
                header: `${t(`performance.${kind}`)}: ${t('performance.p90')}`,
                isFigure: true,
                cell: (row: PerformanceFigures) => length(row[kind].percentile90),
              },
              {
                header: `${t(`performance.${kind}`)}: ${t('performance.known')}`,
                isFigure: true,
                cell: (row: PerformanceFigures) =>
                  t('performance.ofAll', {
                    n: row[kind].count.toLocaleString(i18n.language),
                    of: row.incidents.toLocaleString(i18n.language),
                  }),
              },
            ]),
          ]}
        />
      )}
      {note !== undefined && <p className="text-sm text-muted">{note}</p>}
    </CardFrame>
  );
}
