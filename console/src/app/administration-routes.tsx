import { roles, sortOrders } from '@gantry/contract/values';
import { createRoute, redirect } from '@tanstack/react-router';
import { flag, moment, oneOf, type Parameter, readSearch, text } from '../shared/url/search.ts';
import { lazyPage, shell } from './route.tsx';

/** Query parameters of the list of users, named like the input of `users.getAll`. */
const usersSearch = {
  search: text(200),
  role: oneOf(roles),
  department: text(100),
  isActive: flag,
  sortBy: oneOf(['firstName', 'email', 'role', 'lastLogin', 'createdAt']),
  sortOrder: oneOf(sortOrders),
  /** Id of the user whose details are shown. */
  user: text(),
};

/** Query parameters of the activity log, named like the input of `users.getActivityLog`. */
const activitySearch = {
  userId: text(),
  action: text(100),
  about: text(),
  purpose: text(40),
  caseNumber: text(100),
  startDate: moment,
  endDate: moment,
  /** Id of the entry whose details are shown. */
  entry: text(),
};

/** Query parameters of the page of a webhook, named like the input of `webhooks.getDeliveries`. */
const deliveriesSearch = {
  status: oneOf(['PENDING', 'DELIVERED', 'DEAD']),
  kind: oneOf([
    'event.ingested',
    'event.violation',
    'incident.changed',
    'sensor.statusChanged',
    'watchlist.alert',
    'activity',
    'case.changed',
    'test',
  ]),
  sortOrder: oneOf(sortOrders),
  /** Id of the delivery whose details are shown. */
  delivery: text(),
};

/** Query parameters of the messages about alarms, named like the input of `notices.getAll`. */
const noticesSearch = {
  status: oneOf(['PENDING', 'SENT', 'FAILED', 'DROPPED']),
  kind: oneOf(['FIRST', 'CHANGED', 'REPEAT', 'ESCALATED', 'CLEARED', 'SUMMARY', 'TEST', 'PLAN']),
  sortOrder: oneOf(sortOrders),
  /** Id of the message whose details are shown. */
  notice: text(),
};

/** Query parameters of the list of legal holds, named like the input of `storage.getHolds`. */
const holdsSearch = {
  released: flag,
  eventId: text(),
  /** Id of the hold whose details are shown. */
  hold: text(),
};

/** A year of the calendar, as four digits. */
const year: Parameter<string> = (raw) => (/^(?:19|20|21)\d\d$/.test(String(raw)) ? String(raw) : undefined);

const administration = createRoute({
  getParentRoute: () => shell,
  path: '/administration',
  component: lazyPage(
    () => import('../pages/administration/administration-page.tsx'),
    'AdministrationPage',
    'administration',
    'account',
    'reports',
  ),
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
const audit = createRoute({
  getParentRoute: () => administration,
  path: '/audit',
  validateSearch: readSearch({ sample: text(), entry: text() }),
  component: lazyPage(() => import('../pages/administration/audit/audit-page.tsx'), 'AuditPage'),
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
const channels = createRoute({
  getParentRoute: () => administration,
  path: '/channels',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/channels/channels-page.tsx'), 'ChannelsPage'),
});
const alarmRules = createRoute({
  getParentRoute: () => administration,
  path: '/alarms',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/alarms/alarm-rules-page.tsx'), 'AlarmRulesPage'),
});
const notices = createRoute({
  getParentRoute: () => administration,
  path: '/notices',
  validateSearch: readSearch(noticesSearch),
  component: lazyPage(() => import('../pages/administration/channels/notices-page.tsx'), 'NoticesPage'),
});
const rotas = createRoute({
  getParentRoute: () => administration,
  path: '/rotas',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/rotas/rotas-page.tsx'), 'RotasPage'),
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
const calendar = createRoute({
  getParentRoute: () => administration,
  path: '/calendar',
  validateSearch: readSearch({ year }),
  component: lazyPage(() => import('../pages/administration/calendar/calendar-page.tsx'), 'CalendarPage'),
});
const agencies = createRoute({
  getParentRoute: () => administration,
  path: '/agencies',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/agencies/agencies-page.tsx'), 'AgenciesPage'),
});
const plans = createRoute({
  getParentRoute: () => administration,
  path: '/plans',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/plans/plans-page.tsx'), 'PlansPage'),
});
const caseRules = createRoute({
  getParentRoute: () => administration,
  path: '/cases',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/cases/case-rules-page.tsx'), 'CaseRulesPage'),
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
const map = createRoute({
  getParentRoute: () => administration,
  path: '/map',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/administration/map/map-page.tsx'), 'MapPage'),
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
  audit,
  webhooks,
  webhook,
  channels,
  alarmRules,
  notices,
  rotas,
  storage,
  holds,
  backups,
  map,
  calendar,
  agencies,
  plans,
  caseRules,
  settings,
  system,
  doctor,
]);
