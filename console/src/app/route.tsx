import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { NotFound, PageFailure } from '../shared/page/page-failure.tsx';
import { type Parameter, readSearchAround } from '../shared/url/search.ts';
import { requireSession } from './require-session.ts';
import { Shell } from './shell/shell.tsx';

/** The root of all routes. */
export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageFailure,
});

/** `?kiosk=1` selects the layout for a wall display. */
const kiosk: Parameter<1> = (raw) => (raw === 1 || raw === true ? 1 : undefined);

/** The parent of the routes that require a session. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: '/shell',
  validateSearch: readSearchAround({ kiosk }),
  beforeLoad: requireSession,
  component: Shell,
});
