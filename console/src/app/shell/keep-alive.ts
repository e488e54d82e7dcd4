import { useEffect } from 'react';
import { api } from '../../shared/service/service.ts';
import { currentSession, expiryOf, keepSession, useSession } from '../../shared/session/session.ts';

/** A token is refreshed after this share of its remaining lifetime, and after a failure, of what remains then. */
const SHARE = 0.5;
const LEAST_MS = 60_000;

/** Refreshes the token before it expires. One tab does it for all tabs of the browser. */
export function useKeepAlive(): void {
  const token = useSession()?.token;
  useEffect(() => {
    const expiry = token === undefined ? null : expiryOf(token);
    if (expiry === null) return;
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const plan = () => {
      const left = expiry - Date.now();
      if (isOver || left <= 0) return;
      timer = setTimeout(() => void exchange(token).then(plan), Math.max(LEAST_MS, left * SHARE));
    };
    plan();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [token]);
}

async function exchange(token: string | undefined): Promise<void> {
  const work = async () => {
    if (currentSession()?.token !== token) return;
    const fresh = await api.auth.refreshToken.mutate();
    // Meanwhile the user may have signed out, or another user signed in.
    if (currentSession()?.token === token) keepSession({ token: fresh.token, user: fresh.user });
  };
  // A failure, such as while the service cannot be reached, is retried before the token expires.
  await (navigator.locks?.request('gantry.token', work) ?? work()).catch(() => undefined);
}
