import { redirect } from '@tanstack/react-router';
import { currentSession } from './session.ts';

/** Leads whoever is not signed in to the sign-in, and from there back to this address. */
export function requireSession({
  location: { href },
}: {
  readonly location: { readonly href: string };
}): void {
  if (currentSession()) return;
  throw redirect({ to: '/sign-in', search: href === '/' ? {} : { to: href }, replace: true });
}
