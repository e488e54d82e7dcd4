import { createRoute, redirect } from '@tanstack/react-router';
import {
  activitySearch,
  deliveriesSearch,
  holdsSearch,
  usersSearch,
} from '../pages/administration/search.ts';
import { readSearch } from '../shared/url/search.ts';
import { loadLaterTexts } from './locale/texts.ts';
import { lazyPage, shell } from './route.tsx';

const administration = createRoute({
  getParentRoute: () => shell,
  path: '/administration',
  component: lazyPage(async () => {
    await Promise.all([loadLaterTexts('administration'), loadLaterTexts('account')]);
    return import('../pages/administration/administration-page.tsx');
  }, 'AdministrationPage'),
});
const administrationStart = createRoute({
  getParentRoute: () => administration,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/administration/users', replace: true });
  },
});
const users = createRoute({
  getParentRoute: () => administration,
  path: '/users',
  validateSearch: readSearch(usersSearch),
  component: lazyPage(() => import('../pages/administration/users/users-page.tsx'), 'UsersPage'),
});
const userRoles = createRoute({
  getParentRoute: () => administration,
  path: '/roles',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/users/roles-page.tsx'), 'RolesPage'),
});
const activity = createRoute({
  getParentRoute: () => administration,
  path: '/activity',
  validateSearch: readSearch(activitySearch),
  component: lazyPage(() => import('../pages/administration/activity/activity-page.tsx'), 'ActivityPage'),
});
const webhooks = createRoute({
  getParentRoute: () => administration,
  path: '/webhooks',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/webhooks/webhooks-page.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => administration,
  path: '/webhooks/$webhookId',
  validateSearch: readSearch(deliveriesSearch),
  component: lazyPage(() => import('../pages/administration/webhooks/webhook-page.tsx'), 'WebhookPage'),
});
const storage = createRoute({
  getParentRoute: () => administration,
  path: '/storage',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/storage/storage-page.tsx'), 'StoragePage'),
});
const holds = createRoute({
  getParentRoute: () => administration,
  path: '/holds',
  validateSearch: readSearch(holdsSearch),
  component: lazyPage(() => import('../pages/administration/holds/holds-page.tsx'), 'HoldsPage'),
});
const settings = createRoute({
  getParentRoute: () => administration,
  path: '/settings',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/settings/settings-page.tsx'), 'SettingsPage'),
});
const backups = createRoute({
  getParentRoute: () => administration,
  path: '/backups',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/backups/backups-page.tsx'), 'BackupsPage'),
});
const doctor = createRoute({
  getParentRoute: () => administration,
  path: '/doctor',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/doctor/doctor-page.tsx'), 'DoctorPage'),
});
const system = createRoute({
  getParentRoute: () => administration,
  path: '/system',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/system/system-page.tsx'), 'SystemPage'),
});

/** The pages of the administration, which are available only to administrators. */
export const administrationRoutes = administration.addChildren([
  administrationStart,
  users,
  userRoles,
  activity,
  webhooks,
  webhook,
  storage,
  holds,
  backups,
  settings,
  system,
  doctor,
]);
