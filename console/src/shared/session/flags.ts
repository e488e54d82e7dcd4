import { useSyncExternalStore } from 'react';

/** A boolean state of the session in this tab, set outside of components and read by them. */
export interface Flag {
  readonly set: (value: boolean) => void;
  readonly get: () => boolean;
  /** A hook that returns the current value. */
  readonly use: () => boolean;
}

function createFlag(): Flag {
  let isSet = false;
  const listeners = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const read = () => isSet;
  return {
    set(value) {
      if (isSet === value) return;
      isSet = value;
      for (const listener of listeners) listener();
    },
    get: read,
    use: () => useSyncExternalStore(subscribe, read),
  };
}

// Whether the service refused the token of this tab. The page stays mounted under a sign-in dialog and keeps its input.
const ended = createFlag();

/** Records that the session has ended (true), or that a new one has started (false). */
export const setSessionEnded = ended.set;

export const isSessionEnded = ended.get;

export const useSessionEnded = ended.use;

// Whether the service refuses requests until the user has set up a second factor.
const factorMissing = createFlag();

/** Records whether a second factor must be set up first. */
export const setFactorMissing = factorMissing.set;

export const useFactorMissing = factorMissing.use;
