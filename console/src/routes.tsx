import { createRoute, createRouter } from '@tanstack/react-router';
import { type Parameter, readSearch } from './address/search.ts';
import { administrationRoutes } from './administration/routes.tsx';
import { connectionSearch } from './connections/search.ts';
import { eventsSearch } from './events/search.ts';
import { incidentsSearch } from './incidents/search.ts';
import { enterRoom } from './locale/locale.ts';
import { locationsSearch } from './locations/search.ts';
import { overviewSearch } from './overview/search.ts';
import { analyticsSearch, filesSearch } from './reports/search.ts';
import { sensorsSearch } from './sensors/search.ts';
import { SignInPage } from './session/sign-in-page.tsx';
import { lazyPage } from './shell/lazy-page.ts';
import { PageFailure } from './shell/page-failure.tsx';
import { root, shell } from './shell/route.tsx';
import { trafficSearch } from './traffic/search.ts';
import { watchlistSearch } from './watchlist/search.ts';

/** The page to open after the sign-in. Only a path within the console is accepted, to prevent open redirects. */
const path: Parameter<string> = (raw) =>
  typeof raw === 'string' && /^\/(?![/\\])/.test(raw) ? raw : undefined;
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readSearch({ to: path }),
  component: SignInPage,
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: readSearch(overviewSearch),
  component: lazyPage(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: readSearch(eventsSearch),
  component: lazyPage(() => import('./events/events-page.tsx'), 'EventsPage'),
});

const incidents = createRoute({
  getParentRoute: () => shell,
  path: '/incidents',
  validateSearch: readSearch(incidentsSearch),
  component: lazyPage(() => import('./incidents/incidents-page.tsx'), 'IncidentsPage'),
});

const incident = createRoute({
  getParentRoute: () => shell,
  path: '/incidents/$incidentId',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('./incidents/incident-page.tsx'), 'IncidentPage'),
});

const watchlist = createRoute({
  getParentRoute: () => shell,
  path: '/watchlist',
  validateSearch: readSearch(watchlistSearch),
  component: lazyPage(() => import('./watchlist/watchlist-page.tsx'), 'WatchlistPage'),
});

const sensors = createRoute({
  getParentRoute: () => shell,
  path: '/sensors',
  validateSearch: readSearch(sensorsSearch),
  component: lazyPage(() => import('./sensors/sensors-page.tsx'), 'SensorsPage'),
});

const sensor = createRoute({
  getParentRoute: () => shell,
  path: '/sensors/$sensorId',
  validateSearch: readSearch({}),
  component: lazyPage(async () => {
    await enterRoom('connections');
    return import('./sensors/sensor-page.tsx');
  }, 'SensorPage'),
});

const connection = createRoute({
  getParentRoute: () => shell,
  path: '/sensors/$sensorId/connections/$connectionId',
  validateSearch: readSearch(connectionSearch),
  component: lazyPage(async () => {
    await enterRoom('connections');
    return import('./connections/connection-page.tsx');
  }, 'ConnectionPage'),
});

const locations = createRoute({
  getParentRoute: () => shell,
  path: '/locations',
  validateSearch: readSearch(locationsSearch),
  component: lazyPage(() => import('./locations/locations-page.tsx'), 'LocationsPage'),
});

const location = createRoute({
  getParentRoute: () => shell,
  path: '/locations/$locationId',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('./locations/location-page.tsx'), 'LocationPage'),
});

const traffic = createRoute({
  getParentRoute: () => shell,
  path: '/traffic',
  validateSearch: readSearch(trafficSearch),
  component: lazyPage(() => import('./traffic/traffic-page.tsx'), 'TrafficPage'),
});

const reports = createRoute({
  getParentRoute: () => shell,
  path: '/reports',
  validateSearch: readSearch(analyticsSearch),
  component: lazyPage(() => import('./reports/analytics-page.tsx'), 'AnalyticsPage'),
});

const reportFiles = createRoute({
  getParentRoute: () => shell,
  path: '/reports/files',
  validateSearch: readSearch(filesSearch),
  component: lazyPage(() => import('./reports/files-page.tsx'), 'FilesPage'),
});

const reportSchedules = createRoute({
  getParentRoute: () => shell,
  path: '/reports/schedules',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('./reports/schedules-page.tsx'), 'SchedulesPage'),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  validateSearch: readSearch({}),
  component: lazyPage(async () => {
    await enterRoom('account');
    return import('./account/account-page.tsx');
  }, 'AccountPage'),
});

const ownSessions = createRoute({
  getParentRoute: () => shell,
  path: '/account/sessions',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('./session/sessions-page.tsx'), 'SessionsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      overview,
      events,
      incidents,
      incident,
      watchlist,
      sensors,
      sensor,
      connection,
      locations,
      location,
      traffic,
      reports,
      reportFiles,
      reportSchedules,
      account,
      ownSessions,
      administrationRoutes,
    ]),
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  // Otherwise every change of the URL, such as the selection of the next row, would reset the scroll position of lists.
  scrollRestoration: false,
  // Removes query parameters from the URL that the route does not know.
  search: { strict: true },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
