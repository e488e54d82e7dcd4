import type { Severity } from '@gantry/contract/events';
import { severities } from '@gantry/contract/values';
import { Link, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { IncidentStatusBadge, SensorStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { incidentPath } from './paths.ts';
import { RowList } from './row-list.tsx';
import { OPEN, SHOWN, useCounts } from './use-counts.ts';

/** Something that needs attention. */
interface Item extends RowProps {
  readonly id: string;
  readonly kind: keyof ReturnType<typeof useCounts>['rows'];
  readonly severity: Severity;
  /** Whether somebody attends to it already. */
  readonly isTaken: boolean;
}

/** The most severe first, then what nobody has acknowledged, then the oldest. */
function byUrgency(one: Item, other: Item): number {
  return (
    severities.indexOf(other.severity) - severities.indexOf(one.severity) ||
    Number(one.isTaken) - Number(other.isTaken) ||
    one.at.getTime() - other.at.getTime()
  );
}

/**
 * What needs attention, the most urgent first: critical and high incidents, open alerts, failing sensors (as high) and
 * sensors that are offline (as medium).
 */
export function AttentionPanel({ className }: { readonly className: string }) {
  const { t } = useTranslation('overview');
  const counts = useCounts();
  const { kiosk } = useSearch({ from: '/shell/' });
  const [fitting, setFitting] = useState(SHOWN);
  const { isPending, error, refetch } = counts;
  const items = useItems(counts).sort(byUrgency).slice(0, SHOWN);
  return (
    <Panel title={t('attention.title')} isFull className={className}>
      {error && <Failure error={error} onRetry={refetch} />}
      {isPending && !error && <Skeleton rows={4} />}
      {!isPending && !error && items.length === 0 && (
        <p className="flex items-center gap-2 p-3 text-muted">
          <Icon name="good" /> {t('attention.nothing')}
        </p>
      )}
      <RowList
        isWall={kiosk === 1}
        onFit={setFitting}
        className="min-h-0 max-h-96 grow overflow-y-auto lg:max-h-none"
      >
        {items.map((item) => (
          <Row key={`${item.kind} ${item.id}`} {...item} />
        ))}
      </RowList>
      <More counts={counts} items={items.slice(0, fitting)} />
    </Panel>
  );
}

function useItems({ rows }: ReturnType<typeof useCounts>): Item[] {
  const { t } = useTranslation('overview');
  const { kiosk } = useSearch({ from: '/shell/' });
  const titleOf = useIncidentTitle();
  const ofSensor = (kind: 'failing' | 'offline', severity: Severity): Item[] =>
    rows[kind].map(({ id, name, status, lastHeartbeat, createdAt }) => ({
      id,
      kind,
      severity,
      isTaken: false,
      to: `/sensors/${id}`,
      at: lastHeartbeat ?? createdAt,
      icon: 'sensor',
      title: name,
      state: <SensorStatusBadge status={status} />,
    }));
  return [
    ...rows.incidents.map(
      ({ id, title, type, openedAt, status, severity }): Item => ({
        id,
        kind: 'incidents',
        severity,
        isTaken: status !== 'OPEN',
        to: incidentPath(id),
        at: openedAt,
        icon: 'incident',
        title: titleOf({ title, type }),
        state: (
          <>
            <SeverityBadge severity={severity} /> <IncidentStatusBadge status={status} />
          </>
        ),
      }),
    ),
    ...rows.alerts.map(
      ({ id, licensePlateNumber, reason, timestamp, priority, locationName, sensorName, backlog }): Item => ({
        id,
        kind: 'alerts',
        severity: priority,
        isTaken: false,
        to: '/watchlist',
        search: { alert: id },
        at: timestamp,
        icon: 'watchlist',
        // A wall display does not disclose plates to passers-by, nor why they are watched.
        title: kiosk ? t('attention.alert') : licensePlateNumber,
        isPlate: !kiosk,
        state: <SeverityBadge severity={priority} />,
        note: [backlog && t('attention.backlog'), kiosk ? null : reason, locationName ?? sensorName]
          .filter(Boolean)
          .join(' · '),
      }),
    ),
    ...ofSensor('failing', 'HIGH'),
    ...ofSensor('offline', 'MEDIUM'),
  ];
}

/** Links to the lists of what is not shown, which are sorted in the same way. */
function More({
  counts,
  items,
}: {
  readonly counts: ReturnType<typeof useCounts>;
  readonly items: readonly Item[];
}) {
  const { t } = useTranslation('overview');
  const lists = {
    alerts: { to: '/watchlist', search: { acknowledged: false, sortBy: 'priority' } },
    incidents: { to: '/incidents', search: { view: 'list', status: [...OPEN], sortBy: 'priority' } },
    failing: { to: '/sensors', search: { status: 'ERROR', sortBy: 'lastHeartbeat', sortOrder: 'asc' } },
    offline: { to: '/sensors', search: { status: 'OFFLINE', sortBy: 'lastHeartbeat', sortOrder: 'asc' } },
  } as const;
  const left = (Object.keys(lists) as (keyof typeof lists)[])
    .map((kind) => ({
      kind,
      count: (counts[kind] ?? 0) - items.filter((item) => item.kind === kind).length,
    }))
    .filter(({ count }) => count > 0);
  if (left.length === 0) return null;
  return (
    <p className="flex flex-wrap gap-x-3 border-t px-3 py-1 text-sm">
      {left.map(({ kind, count }) => (
        <Link
          key={kind}
          to={lists[kind].to}
          search={lists[kind].search as never}
          className="inline-flex min-h-8 items-center text-accent underline pointer-coarse:min-h-11"
        >
          {t(`attention.more.${kind}`, { count })}
        </Link>
      ))}
    </p>
  );
}

interface RowProps {
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly at: Date;
  readonly icon: IconName;
  readonly title: string;
  readonly isPlate?: boolean;
  /** Its severity and status, in words. */
  readonly state: ReactNode;
  readonly note?: string;
}

/** An item with a relative time, linked to its page. */
function Row({ to, search = {}, at, icon, title, isPlate = false, state, note = '' }: RowProps) {
  return (
    <li className="border-b last:border-b-0">
      <Link
        to={to}
        search={search as never}
        className="flex min-h-11 items-start gap-2.5 px-3 py-1.5 hover:bg-hover"
      >
        <Icon name={icon} className="mt-0.5 text-muted" />
        <span className="flex min-w-0 grow flex-col">
          <bdi className={isPlate ? 'one-line font-mono' : 'line-clamp-2 wrap-anywhere'}>{title}</bdi>
          <span className="flex min-w-0 items-center gap-2.5 text-sm text-muted">
            {state}
            <bdi className="one-line">{note}</bdi>
          </span>
        </span>
        <Moment at={at} as="ago" className="text-sm text-muted" />
      </Link>
    </li>
  );
}
