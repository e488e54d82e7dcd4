import { GantryError } from '@gantry/client';
import { SECOND_FACTOR_MISSING } from '@gantry/contract/second-factor';
import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { setFactorMissing, setSessionEnded } from '../session/flags.ts';
import { currentSession } from '../session/session.ts';

/** Errors that are worth a retry: the service cannot be reached, is unavailable, or limits the rate of requests. */
const PASSING = new Set(['UNREACHABLE', 'SERVICE_UNAVAILABLE', 'TOO_MANY_REQUESTS']);
/** HTTP statuses of a proxy that cannot reach the service. */
const PROXY_STATUSES = new Set([502, 503, 504]);
const MAX_RETRIES = 3;
const MAX_WAIT_S = 10;

/** Whether the response came from a proxy that cannot reach the service. */
export function isAnswerOfProxy(error: GantryError): boolean {
  return error.code === 'INVALID_RESPONSE' && PROXY_STATUSES.has(error.httpStatus ?? 0);
}

/** Whether an error is worth a retry. */
export function isPassing(error: unknown): boolean {
  return error instanceof GantryError && (PASSING.has(error.code) || isAnswerOfProxy(error));
}

let refusedToken: string | null = null;

/** Records that the service answered a call with this token, and that it refused the token or one of several calls. */
export function noteRefused(token: string | null): void {
  // What is refused after its token was replaced, such as by a sign-in in another tab, tells nothing of the present one.
  if (token === currentSession()?.token) refusedToken = token;
}

/**
 * Records what an error says about the session: that it has ended, or that a second factor must be set up first.
 * @param token with which the call was made, if it is known
 */
export function noticeRefusal(error: unknown, token = refusedToken): void {
  const session = currentSession();
  if (!(error instanceof GantryError) || !session) return;
  if (error.code === 'UNAUTHORIZED' && token === session.token) setSessionEnded(true);
  if (error.code === 'FORBIDDEN' && error.message === SECOND_FACTOR_MISSING) setFactorMissing(true);
}

// A button is disabled before the next click is handled, so that a double click starts its action only once. By
// default, components are notified in a later task.
notifyManager.setScheduler(queueMicrotask);

/** The query cache of the console. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: (error) => noticeRefusal(error) }),
  mutationCache: new MutationCache({ onError: (error) => noticeRefusal(error) }),
  defaultOptions: {
    queries: {
      // The stream reports changes; if the service has none, `useFollowing` polls.
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
      retry: (failures, error) => isPassing(error) && failures < MAX_RETRIES,
      retryDelay: (failures, error) =>
        1000 *
        Math.min(MAX_WAIT_S, (error instanceof GantryError && error.retryAfter) || 0.5 * 2 ** failures),
    },
    mutations: { networkMode: 'always' },
  },
});
