import { useSyncExternalStore } from 'react';

/** A boolean state of the session in this tab, set outside of components and read by them. */
export interface Flag {
  readonly set: (value: boolean) => void;
  readonly get: () => boolean;
  /** A hook that returns the current value. */
  readonly use: () => boolean;
}

export function createFlag(): Flag {
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
