import { GantryError } from '@gantry/client';
import { createRandom } from '../random.ts';
import { keepTrying, pause, waitBefore } from '../retry.ts';
import type { Colleague } from './staff.ts';

interface Listener<Message> {
  onData(message: { readonly id: string; readonly data: Message }): void;
  onError(error: unknown): void;
  onComplete(): void;
}

/** Subscribes to the messages after the one with the id, or without an id to those from now on. */
export type Subscribe<Message> = (
  lastEventId: string | undefined,
  listener: Listener<Message>,
) => { unsubscribe(): void };

/**
 * Passes on every message until the signal is aborted. The client reconnects by itself after an interruption. If the stream
 * ends for another reason, such as an expired token, it logs in again if necessary, and subscribes from the same position.
 * @throws GantryError when the service refuses the subscription or the login permanently
 */
export async function keepListening<Message>(
  colleague: Colleague,
  subscribe: Subscribe<Message>,
  onMessage: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  const random = createRandom(Date.now());
  let lastEventId: string | undefined;
  for (let attempt = 0; !signal.aborted; attempt++) {
    const onData: Listener<Message>['onData'] = ({ id, data }) => {
      attempt = 0;
      lastEventId = id;
      onMessage(data);
    };
    const reason = await listen(subscribe, lastEventId, onData, signal);
    if (reason instanceof GantryError && reason.code === 'FORBIDDEN') throw reason;
    await pause(waitBefore(attempt, random), signal);
    if (signal.aborted) return;
    await keepTrying(() => ensureToken(colleague), { signal, random, onRetry: () => undefined });
  }
}

/** Subscribes until the stream ends or the signal is aborted. @returns the error that ended it, or null */
function listen<Message>(
  subscribe: Subscribe<Message>,
  lastEventId: string | undefined,
  onData: Listener<Message>['onData'],
  signal: AbortSignal,
): Promise<unknown> {
  return new Promise((resolve) => {
    const ended = new AbortController();
    const end = (reason: unknown): void => {
      ended.abort();
      resolve(reason);
    };
    const subscription = subscribe(lastEventId, { onData, onError: end, onComplete: () => end(null) });
    const leave = (): void => {
      subscription.unsubscribe();
      end(null);
    };
    signal.addEventListener('abort', leave, { once: true, signal: ended.signal });
  });
}

/** Makes sure that the token, which expires after a day, is valid. */
async function ensureToken({ client, logInAgain }: Colleague): Promise<void> {
  await client.api.auth.me.query().catch((error: unknown) => {
    if (error instanceof GantryError && error.code === 'UNAUTHORIZED') return logInAgain();
    throw error;
  });
}
