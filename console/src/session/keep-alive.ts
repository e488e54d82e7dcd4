import { useEffect } from 'react';
import { api } from '../service/service.ts';
import { currentSession, expiryOf, keepSession, useSession } from './session.ts';

/** A token is exchanged when this share of what it had left has passed; and where that failed, of what it has left then. */
const SHARE = 0.5;
const LEAST_MS = 60_000;

/** Exchanges the token before it expires, in one tab of the browser for all. */
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
    // The user may have signed out meanwhile, or another one may have signed in.
    if (currentSession()?.token === token) keepSession({ token: fresh.token, user: fresh.user });
  };
  // If it fails, such as while the service cannot be reached, it is tried again before the token ends.
  await (navigator.locks?.request('gantry.token', work) ?? work()).catch(() => undefined);
}
