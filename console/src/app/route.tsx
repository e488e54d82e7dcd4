import { createRootRoute, createRoute, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router';
import { NotFound, PageFailure } from '../shared/page/page-failure.tsx';
import { currentSession } from '../shared/session/session.ts';
import { type Parameter, readSearchAround } from '../shared/url/search.ts';
import { loadCode } from '../ui/load-code.ts';
import { loadPageTexts, type PageNamespace } from './locale/texts.ts';
import { Shell } from './shell/shell.tsx';

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

/** Redirects to the sign-in page if there is no session; after the sign-in, the user returns to this URL. */
function requireSession({ location: { href } }: { readonly location: { readonly href: string } }): void {
  if (currentSession()) return;
  throw redirect({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true });
}

/**
 * A page whose code and texts are loaded when it is opened, or as soon as the service can be reached again.
 * @param namespaces the texts of pages that it shows
 */
export function lazyPage<Code extends Record<string, unknown>, Name extends keyof Code & string>(
  load: () => Promise<Code>,
  name: Name,
  ...namespaces: readonly PageNamespace[]
) {
  const loadBoth = async (): Promise<Code> => {
    const [code] = await Promise.all([load(), ...namespaces.map(loadPageTexts)]);
    return code;
  };
  return lazyRouteComponent(() => loadCode(loadBoth), name);
}
