import { permissionNames } from '@gantry/contract/permissions';
import { Link, useLocation } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { PageHeader } from '../../shared/page/page-header.tsx';
import { useTitle } from '../../shared/page/title.ts';
import { PlatesHidden } from '../../shared/service/plates.tsx';
import { useMay } from '../../shared/session/session.ts';
import { partLook } from '../../ui/links.tsx';

const parts = [
  { to: '/reports', name: 'analytics' },
  { to: '/reports/files', name: 'files' },
  { to: '/reports/schedules', name: 'schedules' },
] as const;

interface ReportsFrameProps {
  /** The commands of the current part, in the page header. */
  readonly commands?: ReactNode;
  readonly children: ReactNode;
}

/** The header of the reports pages, with links to the three parts. */
export function ReportsFrame({ commands, children }: ReportsFrameProps) {
  const { t } = useTranslation('reports');
  const path = useLocation({ select: ({ pathname }) => pathname });
  const part = parts.find(({ to }) => to === path);
  useTitle('part', part && t(`parts.${part.name}`));
  if (!useMay('viewReports')) return <NotAllowed permission={permissionNames.viewReports} />;
  return (
    <>
      <PageHeader
        title={t('title')}
        note={
          <nav aria-label={t('parts.label')} className="flex flex-wrap gap-1">
            {parts.map(({ to, name }) => (
              <Link
                key={to}
                to={to}
                activeOptions={{ exact: true, includeSearch: false }}
                activeProps={{ className: partLook(true), 'aria-current': 'page' }}
                inactiveProps={{ className: partLook(false) }}
              >
                {t(`parts.${name}`)}
              </Link>
            ))}
          </nav>
        }
      >
        {commands}
      </PageHeader>
      <PlatesHidden />
      {children}
    </>
  );
}
