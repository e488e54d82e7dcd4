import { GantryError } from '@gantry/client';
import { createRandom } from '../random.ts';
import { keepTrying, pause, waitBefore } from '../retry.ts';
import type { Colleague } from './staff.ts';

interface Listener<Message> {
  onData(told: { readonly id: string; readonly data: Message }): void;
  onError(error: unknown): void;
  onComplete(): void;
}

/** Begins to listen, after the message with the id or from now on. */
export type Subscribe<Message> = (
  lastEventId: string | undefined,
  listener: Listener<Message>,
) => { unsubscribe(): void };

/**
 * Tells every message until the signal. The client connects again by itself when it is cut off; what it gives up, such
 * as a stream that ended with its token, is begun again where it stopped.
 * @throws GantryError when the service refuses it for good
 */
export async function keepListening<Message>(
  colleague: Colleague,
  subscribe: Subscribe<Message>,
  tell: (message: Message) => void,
  signal: AbortSignal,
): Promise<void> {
  const random = createRandom(Date.now());
  let lastEventId: string | undefined;
  for (let attempt = 0; !signal.aborted; attempt++) {
    const onData: Listener<Message>['onData'] = ({ id, data }) => {
      attempt = 0;
      lastEventId = id;
      tell(data);
    };
    const reason = await listen(subscribe, lastEventId, onData, signal);
    if (reason instanceof GantryError && reason.code === 'FORBIDDEN') throw reason;
    await pause(waitBefore(attempt, random), signal);
    if (signal.aborted) return;
    await keepTrying(() => ensureToken(colleague), { signal, random, onRetry: () => undefined });
  }
}

/** Listens until the stream or the signal ends, and answers why: an error, or null. */
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

/** Makes sure that there is a token which the service accepts: one is good for a day. */
async function ensureToken({ client, logInAgain }: Colleague): Promise<void> {
  await client.api.auth.me.query().catch((error: unknown) => {
    if (error instanceof GantryError && error.code === 'UNAUTHORIZED') return logInAgain();
    throw error;
  });
}
