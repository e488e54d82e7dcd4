import { HOUR_MS } from '@gantry/contract/durations';
import { useSyncExternalStore } from 'react';
import { currentConnection, onConnectionChange } from '../service/connection.ts';

// The service worker (console/service-worker.js) lets the console start without a connection. Browsers have service
// workers only with TLS, and on this computer.

let isReplaced = false;
const listeners = new Set<() => void>();

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  return () => listeners.delete(changed);
}

/** Whether the files of a newer build are in this browser. */
export function useHasNewVersion(): boolean {
  return useSyncExternalStore(subscribe, () => isReplaced);
}

async function register(workers: ServiceWorkerContainer): Promise<void> {
  const wasControlled = workers.controller !== null;
  let isFirst = !wasControlled;
  workers.addEventListener('controllerchange', () => {
    isReplaced = !isFirst;
    isFirst = false;
    for (const listener of listeners) listener();
  });
  const registration: ServiceWorkerRegistration | undefined = await workers.register('/sw.js');
  // What blocks service workers may answer with none.
  if (!registration) return;
  const look = () => void registration.update().catch(() => undefined);
  setInterval(look, HOUR_MS);
  // A service that was away may have been upgraded.
  let wasBroken = false;
  onConnectionChange(() => {
    const { state } = currentConnection();
    if (wasBroken && state === 'live') look();
    wasBroken = state === 'broken' || (wasBroken && state !== 'live');
  });
}

if (import.meta.env.PROD && 'serviceWorker' in navigator)
  void register(navigator.serviceWorker).catch(() => undefined);
