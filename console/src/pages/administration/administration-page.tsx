import { type Permission, permissionNames } from '@gantry/contract/permissions';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { NotAllowed } from '../../shared/page/page-failure.tsx';
import { useMay } from '../../shared/session/session.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';

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

/** A part of the administration, and the permission that it requires. */
interface Part {
  readonly to: string;
  readonly name:
    | 'users'
    | 'roles'
    | 'activity'
    | 'audit'
    | 'webhooks'
    | 'alarms'
    | 'channels'
    | 'notices'
    | 'rotas'
    | 'storage'
    | 'holds'
    | 'backups'
    | 'map'
    | 'calendar'
    | 'agencies'
    | 'plans'
    | 'cases'
    | 'settings'
    | 'system'
    | 'doctor';
  readonly icon: IconName;
  readonly permission: Permission;
}

export const parts: readonly Part[] = [
  { to: '/administration/users', name: 'users', icon: 'users', permission: 'manageUsers' },
  { to: '/administration/roles', name: 'roles', icon: 'key', permission: 'manageUsers' },
  { to: '/administration/activity', name: 'activity', icon: 'activity', permission: 'manageUsers' },
  { to: '/administration/audit', name: 'audit', icon: 'search', permission: 'manageUsers' },
  { to: '/administration/webhooks', name: 'webhooks', icon: 'link', permission: 'systemSettings' },
  { to: '/administration/alarms', name: 'alarms', icon: 'alert', permission: 'systemSettings' },
  { to: '/administration/channels', name: 'channels', icon: 'send', permission: 'systemSettings' },
  { to: '/administration/notices', name: 'notices', icon: 'list', permission: 'systemSettings' },
  { to: '/administration/rotas', name: 'rotas', icon: 'users', permission: 'systemSettings' },
  { to: '/administration/storage', name: 'storage', icon: 'storage', permission: 'systemSettings' },
  { to: '/administration/holds', name: 'holds', icon: 'hold', permission: 'systemSettings' },
  { to: '/administration/backups', name: 'backups', icon: 'backup', permission: 'systemSettings' },
  { to: '/administration/map', name: 'map', icon: 'location', permission: 'systemSettings' },
  { to: '/administration/calendar', name: 'calendar', icon: 'calendar', permission: 'systemSettings' },
  { to: '/administration/agencies', name: 'agencies', icon: 'incident', permission: 'systemSettings' },
  { to: '/administration/plans', name: 'plans', icon: 'list', permission: 'systemSettings' },
  { to: '/administration/cases', name: 'cases', icon: 'case', permission: 'systemSettings' },
  { to: '/administration/settings', name: 'settings', icon: 'time', permission: 'systemSettings' },
  { to: '/administration/system', name: 'system', icon: 'good', permission: 'systemSettings' },
  { to: '/administration/doctor', name: 'doctor', icon: 'doctor', permission: 'systemSettings' },
];
