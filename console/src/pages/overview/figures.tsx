import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { SeverityBadge } from '../../shared/status/severity.tsx';
import { useTime } from '../../shared/time/use-time.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { Figure } from './figure.tsx';
import { useCounts, useHasIncidents } from './use-counts.ts';
import { useLastDay } from './use-last-day.ts';

/** The key figures of the overview. */
export function Figures() {
  const hasIncidents = useHasIncidents();
  return (
    <section className="grid grid-cols-2 gap-3 md:grid-cols-3 xl:grid-cols-5">
      <Events />
      <Sensors />
      {hasIncidents && <Incidents />}
      <Violations />
      <Alerts />
    </section>
  );
}

function useNumber() {
  const { i18n } = useTranslation();
  return (value: number | undefined) => value?.toLocaleString(i18n.language);
}

function Events() {
  const { t } = useTranslation('overview');
  const number = useNumber();
  const time = useTime();
  const { since, total, perHour, error } = useLastDay();
  const isToday = time.isoDay(since) === time.isoDay(new Date());
  if (total === null) return null;
  return (
    <Figure
      name={t('figures.events')}
      value={number(total)}
      error={error}
      note={t('figures.since', {
        time: `\u2066${isToday ? '' : `${time.date(since)} `}${time.minute(since)}\u2069`,
      })}
      to="/events"
    >
      {perHour && <Sparkline label={t('figures.eventsPerHour')} values={perHour.map((hour) => hour.total)} />}
    </Figure>
  );
}

function Sensors() {
  const { t } = useTranslation(['overview', 'common']);
  const number = useNumber();
  const { sensors, offline, failing } = useCounts();
  const { data, error } = useQuery(service.sensors.getAll.queryOptions({ status: 'ONLINE', take: 1 }));
  const online = data?.total;
  const bad = (offline ?? 0) + (failing ?? 0);
  return (
    <Figure
      name={t('figures.sensors')}
      value={number(online)}
      error={error}
      note={sensors !== undefined && t('figures.of', { total: number(sensors) })}
      to="/sensors"
      tone={failing ? 'critical' : bad > 0 ? 'high' : 'calm'}
    >
      <span className="figures text-sm text-muted">
        {online !== undefined && bad === 0 && online === sensors && online > 0 && t('figures.allOnline')}
        {bad > 0 &&
          `${t('common:sensorStatus.OFFLINE')} ${number(offline)} · ${t('common:sensorStatus.ERROR')} ${number(failing)}`}
      </span>
    </Figure>
  );
}

function Incidents() {
  const { t } = useTranslation('overview');
  const number = useNumber();
  const { data, error } = useQuery(service.incidents.getStats.queryOptions());
  const bySeverity = data?.openBySeverity.filter(({ count }) => count > 0) ?? [];
  return (
    <Figure
      name={t('figures.incidents')}
      value={number(data?.open)}
      error={error}
      to="/incidents"
      tone={bySeverity.some(({ severity }) => severity === 'CRITICAL') ? 'critical' : 'calm'}
    >
      <span className="figures flex flex-wrap gap-x-3 text-sm">
        {bySeverity.map(({ severity, count }) => (
          <span key={severity} className="flex items-center gap-1">
            <SeverityBadge severity={severity} filled={false} /> {number(count)}
          </span>
        ))}
      </span>
    </Figure>
  );
}

function Violations() {
  const { t } = useTranslation('overview');
  const number = useNumber();
  const search = { eventType: 'TRAFFIC_VIOLATION', processed: false, archived: false } as const;
  const { data, error } = useQuery({
    ...service.events.getAll.queryOptions({ ...search, take: 1 }),
    refetchInterval: 30_000,
  });
  const { perHour } = useLastDay();
  return (
    <Figure
      name={t('figures.violations')}
      value={number(data?.total)}
      error={error}
      to="/events"
      search={search}
    >
      {perHour && (
        <Sparkline label={t('figures.violationsPerHour')} values={perHour.map((hour) => hour.violations)} />
      )}
    </Figure>
  );
}

function Alerts() {
  const { t } = useTranslation('overview');
  const number = useNumber();
  const { alerts, rows, error } = useCounts();
  const urgent = rows.alerts[0];
  if (alerts === null) return null;
  return (
    <Figure
      name={t('figures.alerts')}
      value={number(alerts)}
      error={error}
      to="/watchlist"
      search={{ acknowledged: false, sortBy: 'priority' }}
      tone={alerts ? 'high' : 'calm'}
    >
      {urgent && (
        <span className="text-sm text-muted">
          {t('figures.urgent')} <SeverityBadge severity={urgent.priority} />
        </span>
      )}
    </Figure>
  );
}
