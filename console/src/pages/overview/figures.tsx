import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { sentenceOf } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { useTime } from '../../shared/time/use-time.ts';
import type { Tone } from '../../ui/badge.tsx';
import { classes } from '../../ui/classes.ts';
import { Sparkline } from '../../ui/sparkline.tsx';
import { useCounts, useHasIncidents, useLastDay } from './use-counts.ts';

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
  const { alerts, urgent, error } = useCounts();
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
          {t('figures.urgent')} <SeverityBadge severity={urgent} />
        </span>
      )}
    </Figure>
  );
}

interface FigureProps {
  readonly name: string;
  /** undefined until it is loaded. */
  readonly value: string | undefined;
  /** The error of the request, shown as long as there is no value. */
  readonly error?: unknown;
  /** Qualifies the value, such as a total or a start time. */
  readonly note?: ReactNode;
  /** The path of the list that the figure counts. */
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly tone?: Tone;
  readonly children?: ReactNode;
}

/** A key figure that links to the list it counts. Its space is reserved until it is loaded. */
function Figure({ name, value, error, note, to, search = {}, tone = 'calm', children }: FigureProps) {
  return (
    <Link
      to={to}
      search={search as never}
      className="flex min-h-24 min-w-0 flex-col gap-0.5 rounded-md border bg-surface p-3 hover:bg-hover"
    >
      <span className="line-clamp-2 text-sm text-muted">{name}</span>
      <span className="figures flex flex-wrap items-baseline gap-x-2">
        <strong
          className={classes(
            'text-2xl leading-tight font-semibold',
            tone === 'critical' && 'text-critical',
            tone === 'high' && 'text-high',
          )}
        >
          {value ??
            (error ? (
              ' '
            ) : (
              <span className="inline-block h-6 w-20 animate-pulse rounded bg-hover motion-reduce:animate-none" />
            ))}
        </strong>
        {note !== undefined && <span className="one-line text-sm text-muted">{note}</span>}
      </span>
      {value === undefined && Boolean(error) && (
        <span className="text-sm text-critical">
          <bdi>{sentenceOf(error).sentence}</bdi>
        </span>
      )}
      <span className="mt-auto block">{children}</span>
    </Link>
  );
}
