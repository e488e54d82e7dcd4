import type { SessionUser } from '@gantry/contract/auth';
import { useMutation } from '@tanstack/react-query';
import { keptInput } from '../../shared/form/kept.ts';
import { api } from '../../shared/service/service.ts';
import { currentSession, keepSession } from '../../shared/session/session.ts';

interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Code of the second factor; absent until the service asks for it. */
  readonly code?: string;
}

/** The mutation that signs in, for all tabs of the browser. */
export function useSignIn(onSignedIn: (user: SessionUser) => void) {
  return useMutation({
    mutationFn: (credentials: Credentials) => api.auth.login.mutate(credentials),
    onSuccess: (session) => {
      keepSession(session);
      onSignedIn(session.user);
    },
  });
}

/** Signs out at the service, and in this browser even if the service cannot be reached. */
export async function signOut(): Promise<void> {
  const userId = currentSession()?.user.id;
  await api.auth.logout.mutate().catch(() => undefined);
  keepSession(null);
  if (userId !== undefined) await keptInput.removeAllOf(userId);
}
