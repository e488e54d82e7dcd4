import type { WorksWindow } from '@gantry/contract/works';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { service } from '../../shared/service/service.ts';
import { useMay } from '../../shared/session/session.ts';
import { Moment } from '../../shared/time/moment.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { RowList } from './row-list.tsx';
import { useHasIncidents } from './use-counts.ts';

/** Time passes without a change of works, in milliseconds. */
const AGAIN_MS = 60_000;
const SHOWN = 8;
const HOURS = 24;

/** The works that are in force or begin within the next 24 hours; none for users who may not see works. */
export function useNextWorks(): readonly WorksWindow[] {
  const mayRead = useMay('manageIncidents');
  const hasIncidents = useHasIncidents();
  const { data } = useQuery({
    ...service.works.getWindows.queryOptions({ hours: HOURS, onMap: true }),
    enabled: mayRead && hasIncidents,
    refetchInterval: AGAIN_MS,
  });
  return useMemo(
    () => (data?.windows ?? []).filter(({ state }) => state === 'ACTIVE' || state === 'PLANNED'),
    [data],
  );
}

/** The works of the next 24 hours. */
export function WorksPanel({ windows }: { readonly windows: readonly WorksWindow[] }) {
  const { t } = useTranslation('overview');
  const { kiosk } = useSearch({ from: '/shell/' });
  return (
    <Panel
      title={t('works.title')}
      isFull
      actions={
        <Link to="/works" className="text-accent underline">
          {t('works.all')}
        </Link>
      }
    >
      <RowList isWall={kiosk === 1}>
        {windows.slice(0, SHOWN).map(({ worksId, title, from, until, state }) => (
          <li key={`${worksId} ${from.getTime()}`} className="border-b last:border-b-0">
            <Link
              to="/works/$worksId"
              params={{ worksId }}
              className="flex min-h-9 flex-wrap items-center gap-x-2 px-3 hover:bg-hover pointer-coarse:min-h-11"
            >
              <bdi className="one-line min-w-0 grow">{title}</bdi>
              {state === 'ACTIVE' && (
                <Badge tone="high" icon="busy">
                  {t('works.inForce')}
                </Badge>
              )}
              <span dir="ltr" className="text-sm text-muted">
                <Moment at={from} /> – <Moment at={until} />
              </span>
            </Link>
          </li>
        ))}
      </RowList>
    </Panel>
  );
}
