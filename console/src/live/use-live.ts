import type { AnyMessage } from '@gantry/contract/live';
import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useFeatures } from '../service/features.ts';
import { service } from '../service/service.ts';
import { useFactorMissing } from '../session/factor-missing.ts';
import { useSession } from '../session/session.ts';
import { askAgain, askAllAgain } from './ask-again.ts';
import { setStreamOff } from './connection.ts';
import { onLive, type Position, startLive } from './live.ts';

/** Calls back with every message of the stream while the component is shown. */
export function useLive(handler: (message: AnyMessage) => void): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => onLive((message) => latest.current(message)), []);
}

/** What changes with the messages of each topic. Lists of events do not: their rows wait until they are asked for. */
const changed: Readonly<Partial<Record<AnyMessage['type'], readonly QueryKey[]>>> = {
  sensors: [service.sensors.pathKey()],
  incidents: [service.incidents.pathKey()],
  watchlist: [service.watchlist.getAlerts.pathKey()],
};

/**
 * What is asked for once more when the stream begins, because something may have happened since a page asked for it, and
 * again and again where there is no stream.
 */
const followed: readonly QueryKey[] = [
  service.sensors.pathKey(),
  service.incidents.pathKey(),
  service.watchlist.getAlerts.pathKey(),
  service.events.getRecent.pathKey(),
];

/** Without a stream, pages ask again after this, in milliseconds. */
export const POLL_MS = 15_000;

/** Changes within this time are asked for together, in milliseconds. */
const TOGETHER_MS = 500;

/** Follows the service while somebody is signed in, and has what changed asked for again: all of it where there is no stream. */
export function useFollowing(): void {
  const token = useSession()?.token;
  const isRefused = useFactorMissing();
  const isOff = useFeatures()?.realtime === false;
  const client = useQueryClient();
  // A token that was exchanged has a stream of its own, which goes on where the one before ended.
  const position = useRef<Position>({ lastEventId: undefined });
  useEffect(() => {
    if (token === undefined || isRefused || isOff) return;
    const stop = new AbortController();
    startLive(stop.signal, position.current);
    return () => stop.abort();
  }, [token, isRefused, isOff]);
  useEffect(() => {
    if (!isOff) return;
    const leave = setStreamOff();
    const timer = setInterval(() => {
      // The feature may have been switched on.
      for (const queryKey of [...followed, service.system.getSettings.pathKey()]) askAgain(client, queryKey);
    }, POLL_MS);
    return () => {
      clearInterval(timer);
      leave();
    };
  }, [isOff, client]);
  useEffect(() => {
    const waiting = new Map<AnyMessage['type'], ReturnType<typeof setTimeout>>();
    let hasBegun = false;
    const leave = onLive(({ type }, afterBreak) => {
      if (!hasBegun) for (const queryKey of followed) askAgain(client, queryKey);
      hasBegun = true;
      // What was missed is not known one by one, so everything that is shown is asked for again.
      if (type === 'missed' || afterBreak) void askAllAgain(client);
      const keys = changed[type];
      if (!keys || waiting.has(type)) return;
      waiting.set(
        type,
        setTimeout(() => {
          waiting.delete(type);
          for (const queryKey of keys) askAgain(client, queryKey);
        }, TOGETHER_MS),
      );
    });
    return () => {
      leave();
      for (const timer of waiting.values()) clearTimeout(timer);
    };
  }, [client]);
}
