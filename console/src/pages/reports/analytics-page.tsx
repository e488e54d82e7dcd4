import type { AnalyticsInterval } from '@gantry/contract/analytics';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../shared/notices/copy-button.tsx';
import { type DayRange, daysIn, rangeOfPreset } from '../../shared/range/days.ts';
import { RangePicker, useToday } from '../../shared/range/range-picker.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Select } from '../../ui/select.tsx';
import { Skeleton, ThinBar, useLasting } from '../../ui/skeleton.tsx';
import { AnalyticsView } from './analytics-view.tsx';
import { ReportsFrame } from './reports-frame.tsx';

/** The analytics page: statistics of the events of a range of days. */
export function AnalyticsPage() {
  const today = useToday();
  const may = useMay('viewReports');
  return (
    <ReportsFrame>
      {may && today !== null ? <Analytics today={today} /> : <Skeleton rows={12} />}
    </ReportsFrame>
  );
}

const intervals: readonly AnalyticsInterval[] = ['hour', 'day', 'week'];

/** The default interval for a range, the same as the service's. */
function intervalFor(days: DayRange): AnalyticsInterval {
  const count = daysIn(days);
  if (count <= 3) return 'hour';
  return count <= 120 ? 'day' : 'week';
}

function Analytics({ today }: { readonly today: string }) {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const search = useSearch({ from: '/shell/reports' });
  const navigate = useNavigate({ from: '/reports' });
  const change = (values: Partial<typeof search>) =>
    void navigate({ search: (all) => ({ ...all, ...values }) });
  const usual = rangeOfPreset('last30', today);
  const { startDate = search.endDate ?? usual.startDate, endDate = search.startDate ?? usual.endDate } =
    search;
  const days = startDate <= endDate ? { startDate, endDate } : { startDate: endDate, endDate: startDate };
  const interval = search.interval ?? intervalFor(days);
  const query = useQuery({
    ...service.reports.getAnalytics.queryOptions({ ...days, interval, repeatPlates: false }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  // Until the new range is loaded, the figures of the previous one are shown.
  const looksOutdated = useLasting(query.isPlaceholderData);
  return (
    <div className="min-h-0 grow overflow-y-auto">
      <div className="flex flex-wrap items-end gap-x-3 gap-y-2 border-b px-4 py-2">
        <RangePicker range={days} today={today} onChange={change} />
        <Select
          label={t('analytics.interval')}
          value={interval}
          options={intervals.map((value) => ({ value, label: t(`intervals.${value}`) }))}
          onChange={(value) => change({ interval: value })}
        />
        <CopyButton label={common('filters.copyLink')} iconOnly text={() => Promise.resolve(location.href)} />
      </div>
      <ThinBar active={query.isFetching} />
      {query.error && (
        <div className="p-3">
          <Failure error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {query.data && !query.error && (
        <div inert={query.isPlaceholderData} className={looksOutdated ? 'stale' : undefined}>
          <AnalyticsView analytics={query.data} days={days} />
        </div>
      )}
      {query.isPending && <Skeleton rows={12} />}
    </div>
  );
}
