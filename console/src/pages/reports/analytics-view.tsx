import type { Analytics } from '@gantry/contract/analytics';
import type { EventType } from '@gantry/contract/events';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { ChartCard } from '../../shared/chart/chart-card.tsx';
import { hourOfWeek } from '../../shared/chart/hour-of-week.ts';
import { ShareTable } from '../../shared/chart/share-table.tsx';
import { useCellText } from '../../shared/chart/use-cell-text.ts';
import { useCodeNames } from '../../shared/events/codes.ts';
import type { DayRange } from '../../shared/range/days.ts';
import { weekdaysFrom } from '../../shared/time/format.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { useServiceTime } from '../../shared/time/use-time.ts';
import { useTimeSettings } from '../../shared/time/zone.ts';
import { Empty } from '../../ui/empty.tsx';
import { Icon } from '../../ui/icon.tsx';
import { ProcessingTime, RepeatPlates, SeriesCard, Totals } from './analytics-cards.tsx';

interface AnalyticsViewProps {
  readonly analytics: Analytics;
  readonly days: DayRange;
}

/** The totals, charts and tables of a range of days. */
export function AnalyticsView({ analytics, days }: AnalyticsViewProps) {
  const { t } = useTranslation('reports');
  const subject = useServiceTime().days(days);
  const { total, start: from, end: until, keptSince } = analytics;
  const n = t('analytics.events', { count: total });
  const range = { subject, n, from, until };
  return (
    <div className="grid gap-3 px-4 py-3 xl:grid-cols-2">
      {keptSince && (
        <p className="flex items-center gap-2 rounded-md bg-medium-surface px-3 py-2 xl:col-span-2">
          <Icon name="medium" className="text-medium" />
          <span>
            {t('analytics.keptSince')} <Moment at={keptSince} />
          </span>
        </p>
      )}
      <div className="min-w-0 xl:col-span-2">
        <Totals analytics={analytics} />
      </div>
      {total === 0 && (
        <div className="xl:col-span-2">
          <Empty icon="events" title={t('analytics.empty')}>
            {t('analytics.emptyText')}
          </Empty>
        </div>
      )}
      <SeriesCard analytics={analytics} {...range} />
      <WeekCard analytics={analytics} {...range} />
      <ShareTables analytics={analytics} {...range} />
      <RepeatPlates days={days} from={from} />
      <ProcessingTime times={analytics.processingTime} />
    </div>
  );
}

interface RangeProps {
  readonly analytics: Analytics;
  readonly subject: string;
  readonly n: string;
  readonly from: Date;
  readonly until: Date;
}

/** The shares of the types, violations, severities, vehicles, sensors and locations in the events. */
function ShareTables({ analytics, ...range }: RangeProps) {
  const { t } = useTranslation('reports');
  const { t: common } = useTranslation('common');
  const { t: typeName } = useTranslation('events');
  const names = useCodeNames();
  const { total } = analytics;
  const counted = (count: number) => t('analytics.events', { count });
  const violations = analytics.byViolationType.reduce((sum, { count }) => sum + count, 0);
  const shares = (
    title: string,
    header: string,
    rows: readonly (readonly [string, number])[],
    all = total,
  ) => ({
    none: t('analytics.none'),
    table: {
      columns: [
        { header, kind: 'text' as const },
        { header: t('analytics.count'), kind: 'number' as const },
        { header: t('analytics.share'), kind: 'share' as const },
      ],
      rows: rows.map(([name, count]) => [name, count, all === 0 ? null : count / all]),
    },
    ...range,
    n: counted(all),
    title,
  });
  const unknown = t('analytics.unknown');
  return (
    <>
      <ShareTable
        {...shares(
          t('analytics.byType'),
          t('filters.eventType'),
          analytics.byType.map(({ eventType, count }) => [
            typeName(`types.${eventType as EventType}`),
            count,
          ]),
        )}
      />
      <ShareTable
        {...shares(
          t('analytics.byViolationType'),
          t('filters.violationType'),
          analytics.byViolationType.map(({ violationType, count }) => [
            names.violation(violationType),
            count,
          ]),
          violations,
        )}
      />
      <ShareTable
        {...shares(
          t('analytics.bySeverity'),
          t('filters.severity'),
          analytics.bySeverity.map(({ severity, count }) => [
            severity === null ? unknown : common(`severity.${severity}`),
            count,
          ]),
        )}
      />
      <ShareTable
        {...shares(
          t('analytics.byVehicleType'),
          t('filters.vehicleType'),
          analytics.byVehicleType.map(({ vehicleType, count }) => [
            vehicleType === null ? unknown : names.vehicle(vehicleType),
            count,
          ]),
        )}
      />
      <ShareTable
        {...shares(
          t('analytics.topSensors'),
          t('filters.sensorId'),
          analytics.topSensors.map(({ sensorId, sensorName, count }) => [sensorName ?? sensorId, count]),
        )}
      />
      <ShareTable
        {...shares(
          t('analytics.topLocations'),
          t('filters.locationId'),
          analytics.topLocations.map(({ locationName, count }) => [locationName, count]),
        )}
      />
    </>
  );
}

function WeekCard({ analytics: { hourOfWeek: week }, ...range }: RangeProps) {
  const { t, i18n } = useTranslation('reports');
  const { t: chartText } = useTranslation('chart');
  const textOf = useCellText();
  const { firstDayOfWeek } = useTimeSettings();
  const title = t('analytics.week');
  const { table, draw } = useMemo(
    () =>
      hourOfWeek({
        days: weekdaysFrom(firstDayOfWeek, i18n.language),
        figureOf: (weekday, hour) => week.find((day) => day.weekday === weekday)?.hours[hour] ?? null,
        format: (value) => textOf(value, { header: '', kind: 'number' }),
        texts: { day: chartText('weekday'), value: t('analytics.count'), gap: chartText('gap') },
        digits: 0,
      }),
    [week, firstDayOfWeek, i18n.language, textOf, t, chartText],
  );
  return <ChartCard title={title} table={table} draw={draw} {...range} />;
}
