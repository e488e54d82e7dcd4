import type { SessionUser } from '@gantry/contract/auth';
import { useMutation } from '@tanstack/react-query';
import { queryClient } from '../service/queries.ts';
import { api } from '../service/service.ts';
import { setSessionEnded } from './ended.ts';
import { setFactorMissing } from './factor-missing.ts';
import { currentSession, keepSession, type Session } from './session.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Of the second factor; absent until the service asks for it. */
  readonly code?: string;
}

/** Signs in. Who signs in again finds the page as it was; another user begins with nothing of the one before. */
export function useSignIn(onSignedIn: (user: SessionUser) => void) {
  return useMutation({
    mutationFn: (credentials: Credentials) => api.auth.login.mutate(credentials),
    onSuccess: (session) => {
      acceptSession(session);
      onSignedIn(session.user);
    },
  });
}

/** Begins the session that a login has given. */
export function acceptSession(session: Session): void {
  const isSame = currentSession()?.user.id === session.user.id;
  keepSession(session);
  setSessionEnded(false);
  setFactorMissing(false);
  if (isSame) void queryClient.invalidateQueries();
  else queryClient.clear();
}

/** Signs out at the service, and here even if that cannot be reached. */
export async function signOut(): Promise<void> {
  await api.auth.logout.mutate().catch(() => undefined);
  keepSession(null);
  setSessionEnded(false);
  queryClient.clear();
}
