import { createGantryClient } from '@gantry/client';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { setFactorMissing, setSessionEnded } from '../session/flags.ts';
import { currentSession, onSessionChange } from '../session/session.ts';
import { markBroken } from './connection.ts';
import { serviceAddress } from './files.ts';
import { noteRefused, queryClient } from './queries.ts';

/** Calls the service. A call that does not reach it shows that the connection is broken, before the stream notices. */
const reach: typeof fetch = async (input, init) => {
  try {
    const answer = await fetch(input, init);
    // Several calls in one request are answered with 207, unless all have the same status.
    if (answer.status === 401 || answer.status === 207)
      noteRefused(new Headers(init?.headers).get('authorization')?.replace(/^Bearer /, '') ?? null);
    return answer;
  } catch (error) {
    const isOurs =
      init?.signal?.aborted && (init.signal.reason as Error | undefined)?.name !== 'TimeoutError';
    if (!isOurs) markBroken(Date.now());
    throw error;
  }
};

/** The client of the service, with the token of the current session. */
export const gantry = createGantryClient({ url: serviceAddress, fetch: reach });

let known = currentSession();
gantry.setToken(known?.token ?? null);
// Also called when another tab changes the session. If the same user has a new token, the page stays and all queries are
// refetched, also those that the service has yet to refuse; if the user changes or signs out, the cache is cleared.
onSessionChange(() => {
  const before = known;
  known = currentSession();
  gantry.setToken(known?.token ?? null);
  const isOther = known?.user.id !== before?.user.id;
  if (!isOther && known?.token === before?.token) return;
  setSessionEnded(false);
  setFactorMissing(false);
  if (isOther) queryClient.clear();
  else void queryClient.invalidateQueries();
});

/** Plain requests: `api.events.getById.query({ id })`. */
export const { api } = gantry;

/** Options for TanStack Query: `useQuery(service.events.getAll.queryOptions(input))`. */
export const service = createTRPCOptionsProxy({ client: api, queryClient });
