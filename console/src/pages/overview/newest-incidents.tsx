import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Failure } from '../../shared/service/failure.tsx';
import { service } from '../../shared/service/service.ts';
import { IncidentStatusBadge, SeverityBadge } from '../../shared/status/badges.tsx';
import { useIncidentTitle } from '../../shared/status/incident-title.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { incidentPath } from './paths.ts';
import { RowList } from './row-list.tsx';

const SHOWN = 8;

/** The newest incidents. */
export function NewestIncidents() {
  const { t } = useTranslation('overview');
  const { kiosk } = useSearch({ from: '/shell/' });
  const titleOf = useIncidentTitle();
  const all: string = '/incidents';
  const { data, error, refetch } = useQuery(service.incidents.getAll.queryOptions({ take: SHOWN }));
  return (
    <Panel
      title={t('newest.incidents')}
      isFull
      actions={
        <Link to={all} className="text-accent underline">
          {t('newest.all')}
        </Link>
      }
    >
      {error && !data && <Failure error={error} onRetry={() => void refetch()} />}
      {!error && !data && <Skeleton rows={SHOWN} />}
      {data?.total === 0 && <p className="p-3 text-muted">{t('newest.noIncidents')}</p>}
      <RowList isWall={kiosk === 1}>
        {data?.incidents.map(({ id, title, type, severity, status, openedAt }) => (
          <li key={id} className="border-b last:border-b-0">
            <Link
              to={incidentPath(id)}
              className="flex min-h-9 items-center gap-2 px-3 hover:bg-hover pointer-coarse:min-h-11"
            >
              <Moment at={openedAt} as="ago" className="text-muted" />
              <bdi className="one-line min-w-0 grow">{titleOf({ title, type })}</bdi>
              <SeverityBadge severity={severity} />
              <IncidentStatusBadge status={status} />
            </Link>
          </li>
        ))}
      </RowList>
    </Panel>
  );
}
