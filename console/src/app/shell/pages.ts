import { mayDo, type Permission } from '@gantry/contract/permissions';
import type { SystemSettings } from '@gantry/contract/system';
import { useFeatures } from '../../shared/service/features.ts';
import { useFactorMissing } from '../../shared/session/flags.ts';
import { homeOf, useUser } from '../../shared/session/session.ts';
import type { IconName } from '../../ui/icon.tsx';

/** A page in the navigation. */
export interface Page {
  readonly to: string;
  readonly name:
    | 'mine'
    | 'overview'
    | 'events'
    | 'incidents'
    | 'works'
    | 'watchlist'
    | 'hits'
    | 'cases'
    | 'alarms'
    | 'log'
    | 'shift'
    | 'sensors'
    | 'locations'
    | 'traffic'
    | 'reports'
    | 'administration';
  readonly icon: IconName;
  /** The second key of the page's shortcut, after `g`. */
  readonly key: string;
  readonly permission?: Permission;
  /** The feature of the service that the page needs, which an operator may have switched off. */
  readonly feature?: keyof SystemSettings['features'];
}

export const pages: readonly Page[] = [
  {
    to: '/mine',
    name: 'mine',
    icon: 'pedestrian',
    key: 'y',
    permission: 'manageIncidents',
    feature: 'incidents',
  },
  { to: '/', name: 'overview', icon: 'overview', key: 'o' },
  { to: '/events', name: 'events', icon: 'events', key: 'e' },
  {
    to: '/incidents',
    name: 'incidents',
    icon: 'incident',
    key: 'i',
    permission: 'manageIncidents',
    feature: 'incidents',
  },
  {
    to: '/works',
    name: 'works',
    icon: 'busy',
    key: 'p',
    permission: 'manageIncidents',
    feature: 'incidents',
  },
  { to: '/watchlist', name: 'watchlist', icon: 'watchlist', key: 'w', permission: 'manageIncidents' },
  { to: '/hits', name: 'hits', icon: 'high', key: 'h', permission: 'manageIncidents' },
  { to: '/cases', name: 'cases', icon: 'case', key: 'c', permission: 'verifyCases' },
  { to: '/alarms', name: 'alarms', icon: 'alert', key: 'm', permission: 'manageIncidents' },
  { to: '/log', name: 'log', icon: 'list', key: 'j', permission: 'manageIncidents' },
  { to: '/shift', name: 'shift', icon: 'users', key: 'd', permission: 'manageIncidents' },
  { to: '/sensors', name: 'sensors', icon: 'sensor', key: 's' },
  { to: '/locations', name: 'locations', icon: 'location', key: 'l', feature: 'locations' },
  { to: '/traffic', name: 'traffic', icon: 'traffic', key: 't', feature: 'traffic' },
  { to: '/reports', name: 'reports', icon: 'file', key: 'r', permission: 'viewReports', feature: 'reports' },
  { to: '/administration', name: 'administration', icon: 'settings', key: 'a', permission: 'systemSettings' },
];

/**
 * The pages that the user's role may see and whose features are switched on; none until the user has set up a required
 * second factor.
 */
export function usePagesOfUser(): readonly Page[] {
  const { role } = useUser();
  const features = useFeatures();
  if (useFactorMissing()) return [];
  return pages.filter(
    ({ to, permission, feature }) =>
      (to !== '/mine' || homeOf(role) === to) &&
      (!permission || mayDo(role, permission)) &&
      (!feature || features?.[feature] !== false),
  );
}
