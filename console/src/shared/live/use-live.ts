import type { AnyMessage } from '@gantry/contract/live';
import { type Query, type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { setStreamOff } from '../service/connection.ts';
import { useFeatures } from '../service/features.ts';
import { service } from '../service/service.ts';
import { useFactorMissing } from '../session/flags.ts';
import { useSession } from '../session/session.ts';
import { onLive, type Position, startLive } from './live.ts';

/** Calls `handler` with every message of the stream while the component is mounted. */
export function useLive(handler: (message: AnyMessage) => void): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => onLive((message) => latest.current(message)), []);
}

/**
 * The queries that a message of each type invalidates. Lists of events are not among them: their new rows wait until
 * the user asks for them.
 */
const changed: Readonly<Partial<Record<AnyMessage['type'], readonly QueryKey[]>>> = {
  sensors: [service.sensors.pathKey()],
  incidents: [service.incidents.pathKey()],
  watchlist: [service.watchlist.getAlerts.pathKey()],
  hits: [service.hits.pathKey()],
  alarms: [service.alarms.pathKey()],
  log: [service.log.pathKey(), service.shifts.pathKey()],
  works: [service.works.pathKey()],
  faults: [service.faults.pathKey(), service.sensors.pathKey()],
  cases: [service.cases.pathKey()],
};

/**
 * The queries that are refetched when the stream starts, because the data may have changed since the page loaded it,
 * and periodically if the service has no stream.
 */
const followed: readonly QueryKey[] = [
  service.sensors.pathKey(),
  service.incidents.pathKey(),
  service.watchlist.getAlerts.pathKey(),
  service.hits.pathKey(),
  service.alarms.pathKey(),
  service.log.pathKey(),
  service.shifts.pathKey(),
  service.works.pathKey(),
  service.faults.pathKey(),
  service.cases.pathKey(),
  service.events.getRecent.pathKey(),
];

/** The polling interval if the service has no stream, in milliseconds. */
export const POLL_MS = 15_000;

/** Messages of one type within this time lead to a single refetch, in milliseconds. */
const TOGETHER_MS = 500;

/**
 * Follows the stream of the service while a user is signed in, and refetches the queries that its messages invalidate.
 * If the service has no stream, it polls instead.
 */
export function useFollowing(): void {
  const token = useSession()?.token;
  const isRefused = useFactorMissing();
  const isOff = useFeatures()?.realtime === false;
  const client = useQueryClient();
  // A refreshed token needs a new stream, which resumes where the previous one ended.
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
      // The settings are polled, too: the feature may be switched on.
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
      // It is not known which changes were missed, so all active queries are refetched.
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

/** The queries that are refetched once their current request is settled. */
const waiting = new WeakSet<Query>();

/**
 * Invalidates the queries of a key, which refetches the active ones. A request in flight may return data from before
 * the change, so the query is refetched once more after it. The request is not cancelled: with changes in quick
 * succession, none would ever complete.
 */
function askAgain(client: QueryClient, queryKey: QueryKey): void {
  const underWay = client.getQueryCache().findAll({ queryKey, type: 'active', fetchStatus: 'fetching' });
  void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  for (const query of underWay) {
    if (waiting.has(query) || !query.promise) continue;
    waiting.add(query);
    const again = () => {
      waiting.delete(query);
      void client.invalidateQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
    };
    query.promise.then(again, again);
  }
}

/**
 * Invalidates all queries after the connection was broken, which refetches the active ones. Requests in flight are
 * cancelled first, because they may never get a response.
 */
async function askAllAgain(client: QueryClient): Promise<void> {
  await client.cancelQueries({ type: 'active', fetchStatus: 'fetching' });
  await client.invalidateQueries();
}
