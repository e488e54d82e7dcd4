import { GantryError } from '@gantry/client';
import type { AnyMessage } from '@gantry/contract/live';
import { isFeatureOff } from '../service/features.ts';
import { noticeRefusal, queryClient } from '../service/queries.ts';
import { api, service } from '../service/service.ts';
import { currentConnection, setConnection } from './connection.ts';

// A browser opens six connections to a host and a stream keeps one. So one tab of a browser follows the service, and hands
// on what it receives to the others: the one that holds the lock. Without locks each tab follows by itself.

const NAME = 'gantry.live';
/** The service says something every ten seconds; after this long without a word the link is taken to be broken. */
const SILENCE_MS = 25_000;
/** A stream that the service ended is opened again after this. */
const AGAIN_MS = 1_000;

/** @param afterBreak whether it is the first one since the link was broken */
type Handler = (message: AnyMessage, afterBreak: boolean) => void;
type Shared = { readonly message: AnyMessage; readonly id: string } | { readonly broken: number };

const handlers = new Set<Handler>();

/** Calls back with every message of the stream, in whichever tab it arrives. @returns stops that */
export function onLive(handler: Handler): () => void {
  handlers.add(handler);
  return () => handlers.delete(handler);
}

/** Where a stream goes on: after the last message that was received. */
export interface Position {
  lastEventId: string | undefined;
}

/**
 * Follows the service until the signal, in this tab or another one of the browser.
 * @param position of the stream before, such as that of a token that was exchanged; it is kept up to date
 */
export function startLive(signal: AbortSignal, position: Position): void {
  const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel(NAME) : null;
  let heardAt = Date.now();
  const receive = (shared: Shared) => {
    if ('broken' in shared) return markBroken(shared.broken);
    heardAt = Date.now();
    const { message } = shared;
    // Every tab keeps it: the one that follows next goes on after what the last one handed on.
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
    if (Date.now() - heardAt > SILENCE_MS) markBroken(heardAt);
  }, 1_000);
  signal.addEventListener('abort', () => {
    clearInterval(watch);
    channel?.close();
  });
  if (!('locks' in navigator)) return void lead(share, position, signal);
  navigator.locks.request(NAME, { signal }, () => lead(share, position, signal)).catch(() => undefined);
}

function markBroken(since: number): void {
  const { asOf, brokenSince } = currentConnection();
  setConnection({ state: 'broken', asOf, brokenSince: brokenSince ?? since });
}

/** Keeps a stream open. The client resumes after the last message by itself while the link is broken. */
async function lead(share: (shared: Shared) => void, position: Position, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const { lastEventId } = position;
      const subscription = api.live.onAny.subscribe(lastEventId === undefined ? {} : { lastEventId }, {
        onData: ({ id, data }) => share({ message: data, id }),
        onConnectionStateChange: ({ state, error }) => {
          if (state === 'connecting' && error) share({ broken: Date.now() });
        },
        onError: (error) => {
          noticeRefusal(error);
          // A refusal is no break: a second factor has to be set up first, or the service has no stream any more.
          if (!(error instanceof GantryError && error.code === 'FORBIDDEN')) share({ broken: Date.now() });
          else if (isFeatureOff(error, 'realtime'))
            void queryClient.invalidateQueries({ queryKey: service.system.getSettings.pathKey() });
          resolve();
        },
        onComplete: resolve,
      });
      signal.addEventListener('abort', () => {
        subscription.unsubscribe();
        resolve();
      });
    });
    if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
