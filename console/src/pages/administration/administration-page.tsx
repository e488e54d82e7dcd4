import { permissionNames } from '@gantry/contract/permissions';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { useMay } from '../../shared/session/may.ts';
import { Icon } from '../../ui/icon.tsx';
import { parts } from './parts.ts';

/** The navigation of the administration, and the part that the URL selects. */
export function AdministrationPage() {
  const { t } = useTranslation('administration');
  const { pathname } = useLocation();
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: on a phone, the link of the new part may be out of view
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [pathname]);
  const may = { systemSettings: useMay('systemSettings'), manageUsers: useMay('manageUsers') };
  const isAllowed = (permission: string) => may[permission as keyof typeof may] ?? false;
  const part = parts.find(({ to }) => pathname.startsWith(to));
  const needed = part?.permission ?? 'systemSettings';
  if (!isAllowed(needed)) return <NotAllowed permission={permissionNames[needed]} />;
  return (
    <>
      <nav
        ref={nav}
        aria-label={t('parts.label')}
        className="flex shrink-0 gap-1 overflow-x-auto border-b px-3"
      >
        {parts
          .filter(({ permission }) => isAllowed(permission))
          .map(({ to, name, icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: false, includeSearch: false }}
              className="-mb-px flex min-h-9 shrink-0 items-center gap-2 border-b-2 border-transparent px-3 whitespace-nowrap text-muted hover:text-text pointer-coarse:min-h-11"
              activeProps={{ className: 'border-accent! text-text! font-medium', 'aria-current': 'page' }}
            >
              <Icon name={icon} />
              {t(`parts.${name}`)}
            </Link>
          ))}
      </nav>
      <Outlet />
    </>
  );
}
