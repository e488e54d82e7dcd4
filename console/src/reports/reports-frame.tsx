import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMay } from '../session/may.ts';
import { NotAllowed } from '../shell/page-failure.tsx';
import { PageHeader } from '../shell/page-header.tsx';

const parts = [
  { to: '/reports', name: 'analytics' },
  { to: '/reports/files', name: 'files' },
  { to: '/reports/schedules', name: 'schedules' },
] as const;

interface ReportsFrameProps {
  /** The commands of this part. */
  readonly commands?: ReactNode;
  readonly children: ReactNode;
}

/** The title of the page of reports, and the way to its three parts. */
export function ReportsFrame({ commands, children }: ReportsFrameProps) {
  const { t } = useTranslation('reports');
  if (!useMay('viewReports')) return <NotAllowed permission="viewReports" />;
  return (
    <>
      <PageHeader title={t('title')}>{commands}</PageHeader>
      <nav aria-label={t('parts.label')} className="flex shrink-0 gap-1 overflow-x-auto border-b px-3">
        {parts.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true, includeSearch: false }}
            className="-mb-px flex min-h-9 items-center border-b-2 border-transparent px-3 whitespace-nowrap text-muted hover:text-text pointer-coarse:min-h-11"
            activeProps={{ className: 'border-accent! text-text! font-medium', 'aria-current': 'page' }}
          >
            {t(`parts.${name}`)}
          </Link>
        ))}
      </nav>
      {children}
    </>
  );
}
