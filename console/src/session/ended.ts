import { useSyncExternalStore } from 'react';

// Whether the service refused the token of this tab. What was typed stays: a dialog asks to sign in again over the page.

let ended = false;
const listeners = new Set<() => void>();

/** Notes that the session is over, or that a new one has begun. */
export function setSessionEnded(value: boolean): void {
  if (ended === value) return;
  ended = value;
  for (const listener of listeners) listener();
}

export function useSessionEnded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => ended,
  );
}
