import { useSyncExternalStore } from 'react';

/** How the link to the service is. */
export interface Connection {
  readonly state: 'connecting' | 'live' | 'broken';
  /** Up to when what is shown is complete, in milliseconds since 1970; null before the first message. */
  readonly asOf: number | null;
  /** Since when the link is broken. */
  readonly brokenSince: number | null;
}

let connection: Connection = { state: 'connecting', asOf: null, brokenSince: null };
const listeners = new Set<() => void>();

export function setConnection(next: Connection): void {
  connection = next;
  for (const listener of listeners) listener();
}

export function currentConnection(): Connection {
  return connection;
}

export function useConnection(): Connection {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connection,
  );
}
