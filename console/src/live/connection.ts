import { useSyncExternalStore } from 'react';

/** How the link to the service is. */
export interface Connection {
  /** `off`: the service has no stream. */
  readonly state: 'connecting' | 'live' | 'broken' | 'off';
  /** Up to when what is shown is complete, in milliseconds since 1970; null before the first message. */
  readonly asOf: number | null;
  /** Since when the link is broken. */
  readonly brokenSince: number | null;
}

const UNKNOWN: Connection = { state: 'connecting', asOf: null, brokenSince: null };

let connection = UNKNOWN;
const listeners = new Set<() => void>();

export function setConnection(next: Connection): void {
  connection = next;
  for (const listener of listeners) listener();
}

/** Notes that the service has no stream, until what is returned is called. */
export function setStreamOff(): () => void {
  setConnection({ ...UNKNOWN, state: 'off' });
  return () => setConnection(UNKNOWN);
}

export function currentConnection(): Connection {
  return connection;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, currentConnection);
}

/** Whether the service has no stream, so that pages have to ask again by themselves. */
export function useIsStreamOff(): boolean {
  return useSyncExternalStore(subscribe, () => connection.state === 'off');
}
