import {
  incidentTypes,
  logKinds,
  messageStatuses,
  reportFileKinds,
  reportStatuses,
  sensorStatuses,
  sensorTypes,
  severities,
  sortOrders,
} from '@gantry/contract/values';
import { createRoute, createRouter } from '@tanstack/react-router';
import { casesSearch } from '../pages/cases/search.ts';
import { corridorSearch, eventsSearch } from '../pages/events/search.ts';
import { incidentsSearch } from '../pages/incidents/search.ts';
import {
  annualSearch,
  countsSearch,
  headwaysSearch,
  intersectionSearch,
  qualitySearch,
  speedSearch,
  studiesSearch,
  studySearch,
  trafficSearch,
} from '../pages/traffic/search.ts';
import { PageFailure } from '../shared/page/page-failure.tsx';
import { currentSession, homeOf } from '../shared/session/session.ts';
import {
  day,
  flag,
  moment,
  oneOf,
  type Parameter,
  readSearch,
  text,
  texts,
  whole,
} from '../shared/url/search.ts';
import { administrationRoutes } from './administration-routes.tsx';
import { lazyPage, root, shell } from './route.tsx';

/** The query parameters of the watchlist page, named as in `watchlist.getAlerts` and `watchlist.getAll`. */
const watchlistSearch = {
  /** The list that the page shows; absent: the alerts. */
  part: oneOf(['plates']),
  priority: oneOf(severities),
  acknowledged: flag,
  backlog: flag,
  entryId: text(),
  startDate: moment,
  endDate: moment,
  search: text(200),
  active: flag,
  sortBy: oneOf(['createdAt', 'pattern', 'priority', 'validUntil']),
  sortOrder: oneOf(sortOrders),
  /** The id of the alert whose details are shown. */
  alert: text(),
  /** The id of the entry whose form is open; `new` for a new entry. */
  plate: text(),
};

/** The query parameters of the alarms page, named as in `alarms.getAll`. */
const alarmsSearch = {
  /** Absent: those that are firing. */
  state: oneOf(['FIRING', 'PENDING', 'CLEARED']),
  acknowledged: flag,
  suppressed: flag,
  severity: oneOf(severities),
  startDate: moment,
  endDate: moment,
  sortBy: oneOf(['firedAt', 'severity']),
  sortOrder: oneOf(sortOrders),
};

/** The query parameters of the log, named as in `log.getAll`. */
const logSearch = {
  search: text(200),
  kind: oneOf(logKinds),
  current: flag,
  valid: flag,
  /** The id of a shift. */
  shiftId: text(),
  startDate: moment,
  endDate: moment,
};

/** The query parameters of the locations page, named as in `locations.getAll`. */
const locationsSearch = {
  search: text(200),
  ...corridorSearch,
  sortBy: oneOf(['name', 'createdAt', 'kilometre']),
  sortOrder: oneOf(sortOrders),
  view: oneOf(['map']),
  /** The id of the location at the cursor of the list, or selected on the map. */
  location: text(),
  /** Whether the form for a new location is open. */
  create: flag,
};

/** The query parameters of the overview. */
const overviewSearch = {
  /** The id of the place whose details are shown. */
  place: text(),
  /** Shows the places as a list instead of on the map. */
  places: oneOf(['list']),
};

/** The query parameters of the analytics page. */
const analyticsSearch = {
  startDate: day,
  endDate: day,
  interval: oneOf(['hour', 'day', 'week']),
};

/** The query parameters of the list of files. */
const filesSearch = { kind: oneOf(reportFileKinds), status: oneOf(reportStatuses) };

/** The query parameters of the sensors page, named as in `sensors.getAll`. */
const sensorsSearch = {
  type: oneOf(sensorTypes),
  status: oneOf(sensorStatuses),
  locationId: text(),
  tag: text(40),
  make: text(100),
  model: text(100),
  ...corridorSearch,
  hasFault: flag,
  warrantyEndsWithin: whole(0, 3_660),
  search: text(200),
  sortBy: oneOf(['name', 'type', 'status', 'createdAt', 'lastHeartbeat', 'worst']),
  sortOrder: oneOf(sortOrders),
  view: oneOf(['map']),
  /** The id of the sensor at the cursor of the list, or selected on the map. */
  sensor: text(),
  /** Whether the form for a new sensor is open. */
  create: flag,
};

/** The query parameters of the page of faults, named as in `faults.getAll`. */
const faultsSearch = {
  open: flag,
  state: oneOf(['FOUND', 'WAITING', 'IN_REPAIR', 'REPAIRED']),
  sensorId: text(),
  search: text(200),
  /** The id of the fault whose details are shown. */
  fault: text(),
};

/** The query parameters of the page of a connection. Filters have the same names as in `connections.getMessages`. */
const connectionSearch = {
  status: oneOf(messageStatuses),
  /** The message whose details are shown. */
  message: text(),
};

/** The page to open after the sign-in. Only a path within the console is accepted, to prevent open redirects. */
const path: Parameter<string> = (raw) =>
  typeof raw === 'string' && /^\/(?![/\\])/.test(raw) ? raw : undefined;
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readSearch({ to: path }),
  component: lazyPage(() => import('../pages/sign-in/sign-in-page.tsx'), 'SignInPage'),
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  validateSearch: readSearch(overviewSearch),
  component: lazyPage(
    () => import('../pages/overview/overview-page.tsx'),
    'OverviewPage',
    'overview',
    'alarms',
    'works',
  ),
});

const mine = createRoute({
  getParentRoute: () => shell,
  path: '/mine',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/mine/mine-page.tsx'), 'MinePage', 'mine', 'incidents'),
});

const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: readSearch(eventsSearch),
  component: lazyPage(() => import('../pages/events/events-page.tsx'), 'EventsPage'),
});

const incidents = createRoute({
  getParentRoute: () => shell,
  path: '/incidents',
  validateSearch: readSearch(incidentsSearch),
  component: lazyPage(
    () => import('../pages/incidents/incidents-page.tsx'),
    'IncidentsPage',
    'incidents',
    'mine',
  ),
});

const incidentPerformance = createRoute({
  getParentRoute: () => shell,
  path: '/incidents/performance',
  validateSearch: readSearch({
    startDate: day,
    endDate: day,
    type: oneOf(incidentTypes),
    severity: oneOf(severities),
    road: text(100),
  }),
  component: lazyPage(
    () => import('../pages/incidents/performance-page.tsx'),
    'PerformancePage',
    'incidents',
  ),
});

const incident = createRoute({
  getParentRoute: () => shell,
  path: '/incidents/$incidentId',
  validateSearch: readSearch({}),
  component: lazyPage(
    () => import('../pages/incidents/incident-page.tsx'),
    'IncidentPage',
    'incidents',
    'mine',
  ),
});

const works = createRoute({
  getParentRoute: () => shell,
  path: '/works',
  validateSearch: readSearch({
    part: oneOf(['active', 'past', 'calendar']),
    search: text(200),
    /** The first day of the week that the calendar shows. */
    week: day,
    /** The form for new works is open. */
    create: flag,
    /** The ids of sensors whose maintenance is planned. */
    sensors: texts(40),
  }),
  component: lazyPage(() => import('../pages/works/works-page.tsx'), 'WorksPage', 'works'),
});

const oneWorks = createRoute({
  getParentRoute: () => shell,
  path: '/works/$worksId',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/works/one-works-page.tsx'), 'OneWorksPage', 'works'),
});

const watchlist = createRoute({
  getParentRoute: () => shell,
  path: '/watchlist',
  validateSearch: readSearch(watchlistSearch),
  component: lazyPage(() => import('../pages/watchlist/watchlist-page.tsx'), 'WatchlistPage', 'watchlist'),
});

const hits = createRoute({
  getParentRoute: () => shell,
  path: '/hits',
  validateSearch: readSearch({
    state: oneOf(['ALL', 'NEW', 'CONFIRMED', 'REJECTED', 'EXPIRED']),
    hit: text(),
  }),
  component: lazyPage(() => import('../pages/hits/hits-page.tsx'), 'HitsPage', 'hits'),
});

const cases = createRoute({
  getParentRoute: () => shell,
  path: '/cases',
  validateSearch: readSearch(casesSearch),
  component: lazyPage(() => import('../pages/cases/cases-page.tsx'), 'CasesPage', 'cases'),
});

const oneCase = createRoute({
  getParentRoute: () => shell,
  path: '/cases/$caseId',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/cases/case-page.tsx'), 'CasePage', 'cases', 'certificates'),
});

const hotlists = createRoute({
  getParentRoute: () => shell,
  path: '/hotlists',
  validateSearch: readSearch({
    create: flag,
    list: text(),
    /** The plate to look up; empty for the form alone. */
    plate: (raw) => (raw === '' ? '' : text(50)(raw)),
  }),
  component: lazyPage(() => import('../pages/hotlists/hotlists-page.tsx'), 'HotlistsPage', 'hotlists'),
});

const hotlist = createRoute({
  getParentRoute: () => shell,
  path: '/hotlists/$hotlistId',
  validateSearch: readSearch({ part: oneOf(['imports', 'lookBacks']), imported: text() }),
  component: lazyPage(() => import('../pages/hotlists/hotlist-page.tsx'), 'HotlistPage', 'hotlists'),
});

const alarms = createRoute({
  getParentRoute: () => shell,
  path: '/alarms',
  validateSearch: readSearch(alarmsSearch),
  component: lazyPage(() => import('../pages/alarms/alarms-page.tsx'), 'AlarmsPage', 'alarms'),
});

const log = createRoute({
  getParentRoute: () => shell,
  path: '/log',
  validateSearch: readSearch(logSearch),
  component: lazyPage(() => import('../pages/log/log-page.tsx'), 'LogPage', 'log'),
});

const shift = createRoute({
  getParentRoute: () => shell,
  path: '/shift',
  validateSearch: readSearch({ shift: text() }),
  component: lazyPage(() => import('../pages/shift/shift-page.tsx'), 'ShiftPage', 'shift', 'log', 'sensors'),
});

const sensors = createRoute({
  getParentRoute: () => shell,
  path: '/sensors',
  validateSearch: readSearch(sensorsSearch),
  component: lazyPage(
    () => import('../pages/sensors/sensors-page.tsx'),
    'SensorsPage',
    'sensors',
    'certificates',
  ),
});

const faults = createRoute({
  getParentRoute: () => shell,
  path: '/sensors/faults',
  validateSearch: readSearch(faultsSearch),
  component: lazyPage(
    () => import('../pages/sensors/faults/faults-page.tsx'),
    'FaultsPage',
    'sensors',
    'incidents',
    'mine',
  ),
});

const sensor = createRoute({
  getParentRoute: () => shell,
  path: '/sensors/$sensorId',
  validateSearch: readSearch({}),
  component: lazyPage(
    () => import('../pages/sensors/sensor-page.tsx'),
    'SensorPage',
    'sensors',
    'connections',
    'certificates',
    'incidents',
    'mine',
  ),
});

const connection = createRoute({
  getParentRoute: () => shell,
  path: '/sensors/$sensorId/connections/$connectionId',
  validateSearch: readSearch(connectionSearch),
  component: lazyPage(
    () => import('../pages/sensors/connections/connection-page.tsx'),
    'ConnectionPage',
    'sensors',
    'connections',
  ),
});

const locations = createRoute({
  getParentRoute: () => shell,
  path: '/locations',
  validateSearch: readSearch(locationsSearch),
  component: lazyPage(
    () => import('../pages/locations/locations-page.tsx'),
    'LocationsPage',
    'locations',
    'sensors',
  ),
});

const location = createRoute({
  getParentRoute: () => shell,
  path: '/locations/$locationId',
  validateSearch: readSearch({}),
  component: lazyPage(
    () => import('../pages/locations/location-page.tsx'),
    'LocationPage',
    'locations',
    'studies',
    'sensors',
  ),
});

const traffic = createRoute({
  getParentRoute: () => shell,
  path: '/traffic',
  validateSearch: readSearch(trafficSearch),
  component: lazyPage(() => import('../pages/traffic/traffic-page.tsx'), 'TrafficPage', 'traffic', 'studies'),
});

const counts = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/counts',
  validateSearch: readSearch(countsSearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/counts-page.tsx'),
    'CountsPage',
    'traffic',
    'studies',
  ),
});

const speeds = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/speeds',
  validateSearch: readSearch(speedSearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/speed-page.tsx'),
    'SpeedPage',
    'traffic',
    'studies',
  ),
});

const headways = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/headways',
  validateSearch: readSearch(headwaysSearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/headways-page.tsx'),
    'HeadwaysPage',
    'traffic',
    'studies',
  ),
});

const annual = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/annual',
  validateSearch: readSearch(annualSearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/annual-page.tsx'),
    'AnnualPage',
    'traffic',
    'studies',
  ),
});

const intersection = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/intersection',
  validateSearch: readSearch(intersectionSearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/intersection/intersection-page.tsx'),
    'IntersectionPage',
    'traffic',
    'studies',
  ),
});

const quality = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/quality',
  validateSearch: readSearch(qualitySearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/quality/quality-page.tsx'),
    'QualityPage',
    'traffic',
    'studies',
  ),
});

const studies = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/studies',
  validateSearch: readSearch(studiesSearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/signing/studies-page.tsx'),
    'StudiesPage',
    'traffic',
    'studies',
  ),
});

const study = createRoute({
  getParentRoute: () => shell,
  path: '/traffic/studies/$studyId',
  validateSearch: readSearch(studySearch),
  component: lazyPage(
    () => import('../pages/traffic/studies/signing/study-page.tsx'),
    'StudyPage',
    'traffic',
    'studies',
  ),
});

const reports = createRoute({
  getParentRoute: () => shell,
  path: '/reports',
  validateSearch: readSearch(analyticsSearch),
  component: lazyPage(() => import('../pages/reports/analytics-page.tsx'), 'AnalyticsPage', 'reports'),
});

const reportFiles = createRoute({
  getParentRoute: () => shell,
  path: '/reports/files',
  validateSearch: readSearch(filesSearch),
  component: lazyPage(() => import('../pages/reports/files-page.tsx'), 'FilesPage', 'reports'),
});

const reportSchedules = createRoute({
  getParentRoute: () => shell,
  path: '/reports/schedules',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/reports/schedules-page.tsx'), 'SchedulesPage', 'reports'),
});

const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/account/account-page.tsx'), 'AccountPage', 'account'),
});

const ownSessions = createRoute({
  getParentRoute: () => shell,
  path: '/account/sessions',
  validateSearch: readSearch({}),
  component: lazyPage(() => import('../pages/account/sessions-page.tsx'), 'SessionsPage', 'account'),
});

/** Begins with the page of the role, if the console was opened without the address of a page. */
function beginAtHome(): void {
  const { pathname, search } = window.location;
  const role = currentSession()?.user.role;
  // A page that is loaded again has a state, and stays.
  if (role && pathname === '/' && search === '' && history.state === null)
    history.replaceState(null, '', homeOf(role));
}

beginAtHome();
export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    shell.addChildren([
      overview,
      mine,
      events,
      incidents,
      incidentPerformance,
      incident,
      works,
      oneWorks,
      watchlist,
      hits,
      cases,
      oneCase,
      hotlists,
      hotlist,
      alarms,
      log,
      shift,
      sensors,
      faults,
      sensor,
      connection,
      locations,
      location,
      traffic,
      counts,
      speeds,
      headways,
      annual,
      intersection,
      quality,
      studies,
      study,
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
