import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Failure } from '../service/failure.tsx';
import { incidentLooks } from '../status/incident-status.tsx';
import { statusLooks } from '../status/sensor-status.tsx';
import { Moment } from '../time/moment.tsx';
import { type Tone, toneLetters } from '../ui/badge.tsx';
import { classes } from '../ui/classes.ts';
import { Icon, type IconName } from '../ui/icon.tsx';
import { Panel } from '../ui/panel.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { incidentPath } from './paths.ts';
import { useCounts } from './use-counts.ts';

/** What needs attention: critical incidents, alerts, failing and offline sensors, each with the oldest first. */
export function AttentionPanel({ className }: { readonly className: string }) {
  const { t } = useTranslation(['overview', 'common']);
  const { kiosk } = useSearch({ from: '/shell/' });
  const { rows, critical = 0, alerts, failing = 0, offline = 0, isPending, error, refetch } = useCounts();
  const count = critical + (alerts ?? 0) + failing + offline;
  const shown = rows.critical.length + rows.alerts.length + rows.failing.length + rows.offline.length;
  return (
    <Panel title={t('attention.title')} isFull className={className}>
      {error && <Failure error={error} onRetry={refetch} />}
      {isPending && !error && <Skeleton rows={4} />}
      {!isPending && !error && count === 0 && (
        <p className="flex items-center gap-2 p-3 text-muted">
          <Icon name="good" /> {t('attention.nothing')}
        </p>
      )}
      <ul className="min-h-0 max-h-96 grow overflow-y-auto lg:max-h-none">
        {rows.critical.map(({ id, title, openedAt, status }) => (
          <Row key={id} to={incidentPath(id)} at={openedAt} icon="incident" tone="critical">
            <bdi className="one-line min-w-0">{title}</bdi>
            <Note icon={incidentLooks[status].icon}>{t(`common:incidentStatus.${status}`)}</Note>
          </Row>
        ))}
        {rows.alerts.map(({ id, licensePlateNumber, reason, createdAt, priority }) => (
          <Row
            key={id}
            to="/watchlist"
            search={{ alert: id }}
            at={createdAt}
            icon="watchlist"
            tone={priority === 'CRITICAL' ? 'critical' : 'high'}
          >
            {kiosk ? (
              <span>{t('attention.alert')}</span>
            ) : (
              <bdi className="one-line font-mono">{licensePlateNumber}</bdi>
            )}
            {!kiosk && (
              <Note>
                <bdi>{reason}</bdi>
              </Note>
            )}
          </Row>
        ))}
        {[...rows.failing, ...rows.offline].map(({ id, name, status, lastHeartbeat, createdAt }) => (
          <Row
            key={id}
            to={`/sensors/${id}`}
            at={lastHeartbeat ?? createdAt}
            icon="sensor"
            tone={statusLooks[status].tone}
          >
            <bdi className="one-line min-w-0">{name}</bdi>
            <Note icon={statusLooks[status].icon}>{t(`common:sensorStatus.${status}`)}</Note>
          </Row>
        ))}
      </ul>
      {count > shown && (
        <p className="border-t px-3 py-2 text-sm text-muted">
          {t('attention.more', { count: count - shown })}
        </p>
      )}
    </Panel>
  );
}

interface RowProps {
  readonly to: string;
  readonly search?: Readonly<Record<string, unknown>>;
  readonly at: Date;
  readonly icon: IconName;
  readonly tone: Tone;
  readonly children: ReactNode;
}

/** An item with a relative time, linked to its page. */
function Row({ to, search = {}, at, icon, tone, children }: RowProps) {
  return (
    <li className="border-b last:border-b-0">
      <Link
        to={to}
        search={search as never}
        className="flex min-h-11 items-start gap-2.5 px-3 py-1.5 hover:bg-hover"
      >
        <Icon name={icon} className={classes('mt-0.5', toneLetters[tone])} />
        <span className="flex min-w-0 grow flex-col">{children}</span>
        <Moment at={at} as="ago" className="text-sm text-muted" />
      </Link>
    </li>
  );
}

function Note({ icon, children }: { readonly icon?: IconName; readonly children: ReactNode }) {
  return (
    <span className="flex min-w-0 items-center gap-1 text-sm text-muted">
      {icon && <Icon name={icon} size={13} />}
      <span className="one-line">{children}</span>
    </span>
  );
}
