import { createRootRoute, createRoute, Outlet } from '@tanstack/react-router';
import { type Parameter, readSearchAround } from '../address/search.ts';
import { requireSession } from '../session/require-session.ts';
import { NotFound, PageFailure } from './page-failure.tsx';
import { Shell } from './shell.tsx';

/** What every page is in. */
export const root = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: PageFailure,
});

/** `?kiosk=1` is the form for the wall. */
const kiosk: Parameter<1> = (raw) => (raw === 1 || raw === true ? 1 : undefined);

/** What every page of a user who is signed in is in. */
export const shell = createRoute({
  getParentRoute: () => root,
  id: '/shell',
  validateSearch: readSearchAround({ kiosk }),
  beforeLoad: requireSession,
  component: Shell,
});
