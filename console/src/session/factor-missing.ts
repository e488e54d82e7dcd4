import { useSyncExternalStore } from 'react';

// Whether the service refuses everything until the user has set up a second factor.

let missing = false;
const listeners = new Set<() => void>();

/** Notes that a second factor has to be set up first. */
export function setFactorMissing(value: boolean): void {
  if (missing === value) return;
  missing = value;
  for (const listener of listeners) listener();
}

export function useFactorMissing(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => missing,
  );
}
