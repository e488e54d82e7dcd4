import { GantryError } from '@gantry/client';
import type { AnyMessage } from '@gantry/contract/live';
import { currentConnection, markBroken, setConnection } from '../service/connection.ts';
import { isFeatureOff } from '../service/features.ts';
import { noticeRefusal, queryClient } from '../service/queries.ts';
import { api, service } from '../service/service.ts';
import { currentSession } from '../session/session.ts';

// A browser opens at most six connections to a host, and a stream occupies one of them. So only one tab of a browser,
// the one that holds a lock, opens the stream, and it forwards the messages to the others. Without the Web Locks API
// each tab opens its own stream and forwards nothing.

const NAME = 'gantry.live';
/** The service sends a message every four seconds; after this long without one the connection counts as broken. */
const SILENCE_MS = 10_000;
/** The delay before a stream that ended is opened again, in milliseconds. */
const AGAIN_MS = 1_000;

/** @param afterBreak whether it is the first message since the connection broke */
type Handler = (message: AnyMessage, afterBreak: boolean) => void;
type Shared = { readonly message: AnyMessage; readonly id: string } | { readonly broken: number };

const handlers = new Set<Handler>();

/**
 * Calls `handler` with every message of the stream, whichever tab receives it.
 * @returns a function that unsubscribes
 */
export function onLive(handler: Handler): () => void {
  handlers.add(handler);
  return () => handlers.delete(handler);
}

/** The position from which a stream resumes: after the last message that was received. */
export interface Position {
  lastEventId: string | undefined;
}

/**
 * Follows the stream of the service, opened by this tab or another one of the browser, until the signal aborts.
 * @param position where the previous stream ended, such as that of a token that was refreshed; it is updated in place
 */
export function startLive(signal: AbortSignal, position: Position): void {
  const isElected = 'locks' in navigator;
  const channel = isElected && 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;
  let heardAt = Date.now();
  const receive = (shared: Shared) => {
    if ('broken' in shared) return markBroken(shared.broken);
    heardAt = Date.now();
    const { message } = shared;
    // Every tab keeps the position, so that the next one to open the stream resumes after the last message.
    position.lastEventId = shared.id;
    const afterBreak = currentConnection().state === 'broken';
    const asOf =
      message.type === 'upToDate' ? message.at.getTime() : Math.max(heardAt, currentConnection().asOf ?? 0);
    setConnection({ state: 'live', asOf, brokenSince: null });
    for (const handler of handlers) handler(message, afterBreak);
  };
  const share = (shared: Shared) => {
    channel?.postMessage(shared);
    receive(shared);
  };
  channel?.addEventListener('message', ({ data }) => receive(data as Shared));
  const watch = setInterval(() => {
    if (Date.now() - heardAt <= SILENCE_MS) return;
    markBroken(heardAt);
    // The stream of a connection that is dead without having been closed never ends by itself.
    heardAt = Date.now();
    reopen();
  }, 1_000);
  const again = () => reopen();
  // What the stream had received before tells nothing, only what a new one receives.
  const lose = () => {
    again();
    share({ broken: Date.now() });
  };
  addEventListener('offline', lose);
  addEventListener('online', again);
  signal.addEventListener('abort', () => {
    clearInterval(watch);
    removeEventListener('offline', lose);
    removeEventListener('online', again);
    channel?.close();
  });
  if (!isElected) return void lead(share, position, signal);
  navigator.locks.request(NAME, { signal }, () => lead(share, position, signal)).catch(() => undefined);
}

/** Ends the stream that this tab has open, if it has one, so that it is opened again. */
let reopen: () => void = () => undefined;

/**
 * Keeps a stream open until the signal aborts. If only the connection breaks, the client itself reconnects and resumes
 * after the last message.
 */
async function lead(share: (shared: Shared) => void, position: Position, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const { lastEventId } = position;
      const token = currentSession()?.token;
      const subscription = api.live.onAny.subscribe(lastEventId === undefined ? {} : { lastEventId }, {
        onData: ({ id, data }) => share({ message: data, id }),
        onConnectionStateChange: ({ state, error }) => {
          if (state === 'connecting' && error) share({ broken: Date.now() });
        },
        onError: (error) => {
          // Within the stream, whose answer was not refused.
          if (token !== undefined) noticeRefusal(error, token);
          // FORBIDDEN does not mean a broken connection: a second factor has to be set up, or the feature is off.
          if (!(error instanceof GantryError && error.code === 'FORBIDDEN')) share({ broken: Date.now() });
          else if (isFeatureOff(error, 'realtime'))
            void queryClient.invalidateQueries({ queryKey: service.system.getSettings.pathKey() });
          resolve();
        },
        onComplete: resolve,
      });
      const end = () => {
        subscription.unsubscribe();
        resolve();
      };
      reopen = end;
      signal.addEventListener('abort', end);
    });
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
