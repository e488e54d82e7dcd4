import { useSyncExternalStore } from 'react';
import { setBrokenCheck } from '../../ui/load-code.ts';

/** The state of the stream from the service. */
export interface Connection {
  /** `off`: the service has no stream, because the feature is switched off. */
  readonly state: 'connecting' | 'live' | 'broken' | 'off';
  /** The time up to which the data is complete, in milliseconds since 1970; null before the first message. */
  readonly asOf: number | null;
  /** When the connection broke, in milliseconds since 1970; null while it is not broken. */
  readonly brokenSince: number | null;
}

const UNKNOWN: Connection = { state: 'connecting', asOf: null, brokenSince: null };

let connection = UNKNOWN;
const listeners = new Set<() => void>();
setBrokenCheck(() => connection.state === 'broken');

export function setConnection(next: Connection): void {
  connection = next;
  for (const listener of listeners) listener();
}

/**
 * Records that the service cannot be reached. The next message of the stream records that it can.
 * @param since when the connection broke, in milliseconds since 1970
 */
export function markBroken(since: number): void {
  const { state, asOf, brokenSince } = connection;
  if (state !== 'off') setConnection({ state: 'broken', asOf, brokenSince: brokenSince ?? since });
}

/** Sets the state to `off`. @returns a function that resets it */
export function setStreamOff(): () => void {
  setConnection({ ...UNKNOWN, state: 'off' });
  return () => setConnection(UNKNOWN);
}

export function currentConnection(): Connection {
  return connection;
}

/** Calls `listener` when the state of the stream changes. @returns a function that unsubscribes */
export function onConnectionChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(onConnectionChange, currentConnection);
}

/** Whether the service has no stream, so that pages have to poll. */
export function useIsStreamOff(): boolean {
  return useSyncExternalStore(onConnectionChange, () => connection.state === 'off');
}
