import { GantryError } from '@gantry/client';
import { SECOND_FACTOR_MISSING } from '@gantry/contract/second-factor';
import { MutationCache, notifyManager, QueryCache, QueryClient } from '@tanstack/react-query';
import { setSessionEnded } from '../session/ended.ts';
import { setFactorMissing } from '../session/factor-missing.ts';
import { currentSession } from '../session/session.ts';

/** Failures that pass by themselves: nothing answered, or the service asked to come back. */
const PASSING = new Set(['UNREACHABLE', 'SERVICE_UNAVAILABLE', 'TOO_MANY_REQUESTS']);
/** What a proxy answers while it cannot reach the service. */
const PROXY_STATUSES = new Set([502, 503, 504]);
const MOST_RETRIES = 3;
const MOST_WAIT_S = 10;

/** Whether a proxy in front of the service answered that it cannot reach it. */
export function isAnswerOfProxy(error: GantryError): boolean {
  return error.code === 'INVALID_RESPONSE' && PROXY_STATUSES.has(error.httpStatus ?? 0);
}

/** Notes what a refusal says of the session: that it has ended, or that a second factor has to be set up first. */
export function noticeRefusal(error: unknown): void {
  if (!(error instanceof GantryError) || !currentSession()) return;
  if (error.code === 'UNAUTHORIZED') setSessionEnded(true);
  if (error.code === 'FORBIDDEN' && error.message === SECOND_FACTOR_MISSING) setFactorMissing(true);
}

// A button that has begun something is disabled before the next press is taken, so that a double click does it once. By
// default the buttons learn of it only in a later task.
notifyManager.setScheduler(queueMicrotask);

/** Everything that the pages know of the service. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeRefusal }),
  mutationCache: new MutationCache({ onError: noticeRefusal }),
  defaultOptions: {
    queries: {
      // The stream says what has changed; where the service has none, `useFollowing` has it asked for again.
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      networkMode: 'always',
      retry: (failures, error) =>
        error instanceof GantryError &&
        (PASSING.has(error.code) || isAnswerOfProxy(error)) &&
        failures < MOST_RETRIES,
      retryDelay: (failures, error) =>
        1000 *
        Math.min(MOST_WAIT_S, (error instanceof GantryError && error.retryAfter) || 0.5 * 2 ** failures),
    },
    mutations: { networkMode: 'always' },
  },
});
