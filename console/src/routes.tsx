import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from '@tanstack/react-router';
import { type Parameter, readSearch } from './address/search.ts';
import { eventsSearch } from './events/search.ts';
import { requireSession } from './session/require-session.ts';
import { SignInPage } from './session/sign-in-page.tsx';
import { NotFound, PageFailure } from './shell/page-failure.tsx';
import { Shell } from './shell/shell.tsx';

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: PageFailure });

/** Where to go after the sign-in: a path of the console and nothing else. */
const path: Parameter<string> = (raw) =>
  typeof raw === 'string' && /^\/(?![/\\])/.test(raw) ? raw : undefined;
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: readSearch({ to: path }),
  component: SignInPage,
});

/** `?kiosk=1` is the form for the wall. */
const kiosk: Parameter<1> = (raw) => (raw === 1 || raw === true ? 1 : undefined);

const shell = createRoute({
  getParentRoute: () => root,
  id: '/shell',
  validateSearch: readSearch({ kiosk }),
  beforeLoad: requireSession,
  component: Shell,
});

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: lazyRouteComponent(() => import('./overview/overview-page.tsx'), 'OverviewPage'),
});

const events = createRoute({
  getParentRoute: () => shell,
  path: '/events',
  validateSearch: readSearch(eventsSearch),
  component: lazyRouteComponent(() => import('./events/events-page.tsx'), 'EventsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([signIn, shell.addChildren([overview, events])]),
  defaultPreload: 'intent',
  defaultErrorComponent: PageFailure,
  scrollRestoration: true,
  // What a page does not know is not part of its address.
  search: { strict: true },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
