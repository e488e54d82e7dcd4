import type { Alarm } from '@gantry/contract/alarms';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { AcknowledgeAlarm, AlarmLink, AlarmState } from '../../shared/alarms/alarm-parts.tsx';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { SeverityBadge } from '../../shared/status/badges.tsx';
import { Moment } from '../../shared/time/moment.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { RowList } from './row-list.tsx';

/** Maximum number of alarms that are listed. */
const SHOWN = 8;

/** What needs attention: the alarms of which people are told, in the order of the page of alarms. */
export function AttentionPanel({ className }: { readonly className: string }) {
  const { t } = useTranslation('overview');
  const { kiosk } = useSearch({ from: '/shell/' });
  const [fitting, setFitting] = useState(SHOWN);
  const { data, error, refetch } = useQuery(
    service.alarms.getAll.queryOptions({ state: 'FIRING', suppressed: false, take: SHOWN }),
  );
  const alarms = data?.alarms ?? [];
  const left = data ? data.total - Math.min(fitting, alarms.length) : 0;
  return (
    <Panel title={t('attention.title')} isFull className={className}>
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton rows={4} />}
      {data?.total === 0 && <Nothing />}
      <RowList
        isWall={kiosk === 1}
        onFit={setFitting}
        className="min-h-0 max-h-96 grow overflow-y-auto lg:max-h-none"
      >
        {alarms.map((alarm) => (
          <Row key={alarm.id} alarm={alarm} isWall={kiosk === 1} />
        ))}
      </RowList>
      {left > 0 && (
        <p className="border-t px-3 py-1 text-sm">
          <Link
            to="/alarms"
            search={{ suppressed: false }}
            className="inline-flex min-h-8 items-center text-accent underline pointer-coarse:min-h-11"
          >
            {t('attention.more', { count: left })}
          </Link>
        </p>
      )}
    </Panel>
  );
}

/** Says that no alarm is firing or, if none can, why. */
function Nothing() {
  const { t } = useTranslation('overview');
  const maySet = useMay('systemSettings');
  const { data } = useQuery(service.alarms.getStats.queryOptions());
  const canFire = data === undefined || data.rules > 0;
  return (
    <p className="flex flex-wrap items-center gap-2 p-3 text-muted">
      <Icon name={canFire ? 'good' : 'muted'} /> {t(canFire ? 'attention.nothing' : 'attention.noRules')}
      {!canFire && maySet && (
        <Link to="/administration/alarms" className="text-accent underline">
          {t('attention.enable')}
        </Link>
      )}
    </p>
  );
}

/** An alarm. Nobody can acknowledge it on a wall display. */
function Row({ alarm, isWall }: { readonly alarm: Alarm; readonly isWall: boolean }) {
  const { severity, ruleName, place, firedAt, since } = alarm;
  return (
    <li className="flex min-h-11 items-center gap-2.5 border-b px-3 py-1.5 last:border-b-0">
      <span className="flex min-w-0 grow flex-col">
        <span className="line-clamp-2 wrap-anywhere">
          <AlarmLink alarm={alarm} />
        </span>
        <span className="flex min-w-0 items-center gap-2.5 text-sm text-muted">
          <SeverityBadge severity={severity} /> <AlarmState alarm={alarm} />
          {place !== null && <bdi className="one-line">{ruleName}</bdi>}
        </span>
      </span>
      <Moment at={firedAt ?? since} as="ago" className="text-sm text-muted" />
      {!isWall && <AcknowledgeAlarm alarm={alarm} />}
    </li>
  );
}
