import type { SessionUser } from '@gantry/contract/auth';
import { mayDo, type Permission, type Role } from '@gantry/contract/permissions';
import { createStored } from '../../ui/stored.ts';

/** The session of this browser, shared by all of its tabs. */
export interface Session {
  readonly token: string;
  readonly user: SessionUser;
}

const stored = createStored<Session | null>('session', null, (value) => value === null || isSession(value));

export const currentSession = stored.get;
export const keepSession = stored.set;
export const onSessionChange = stored.subscribe;
export const useSession = stored.use;

/** The page with which the console begins for a role: people in the field begin with what is assigned to them. */
export function homeOf(role: Role): '/' | '/mine' {
  return role === 'FIELD' ? '/mine' : '/';
}

/** The signed-in user. @throws Error if there is no session: only pages that require one use this hook */
export function useUser(): SessionUser {
  const session = useSession();
  if (!session) throw new Error('Nobody is signed in');
  return session.user;
}

/** When a token expires (`exp`), in milliseconds since 1970; null if the token does not say. */
export function expiryOf(token: string): number | null {
  try {
    const [, payload = ''] = token.split('.');
    const { exp } = JSON.parse(atob(payload.replace(/-/g, '+').replace(/_/g, '/'))) as { exp?: number };
    return typeof exp === 'number' ? exp * 1000 : null;
  } catch {
    return null;
  }
}

function isSession(value: unknown): value is Session {
  return typeof value === 'object' && value !== null && 'token' in value && 'user' in value;
}

/** Whether the user's role has the permission. The service checks it again on each request. */
export function useMay(permission: Permission): boolean {
  return mayDo(useUser().role, permission);
}
