import { redirect } from '@tanstack/react-router';
import { currentSession } from '../shared/session/session.ts';

/** Redirects to the sign-in page if there is no session; after the sign-in, the user returns to this URL. */
export function requireSession({
  location: { href },
}: {
  readonly location: { readonly href: string };
}): void {
  if (currentSession()) return;
  throw redirect({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true });
}
