import { createGantryClient } from '@gantry/client';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { isSessionEnded, setSessionEnded } from '../session/ended.ts';
import { setFactorMissing } from '../session/factor-missing.ts';
import { currentSession, onSessionChange } from '../session/session.ts';
import { serviceAddress } from './address.ts';
import { queryClient } from './queries.ts';

/** The service, called with the token of whoever is signed in. */
export const gantry = createGantryClient({ url: serviceAddress });

let known = currentSession();
gantry.setToken(known?.token ?? null);
// In whichever tab of the browser it changes: who signs in again finds the page as it was, and another user begins with
// nothing of the one before.
onSessionChange(() => {
  const before = known;
  known = currentSession();
  gantry.setToken(known?.token ?? null);
  const isOther = known?.user.id !== before?.user.id;
  const isNewLogin = isSessionEnded() && known?.token !== before?.token;
  if (!isOther && !isNewLogin) return;
  setSessionEnded(false);
  setFactorMissing(false);
  if (isOther) queryClient.clear();
  else void queryClient.invalidateQueries();
});

/** Plain calls: `api.events.getById.query({ id })`. */
export const { api } = gantry;

/** Options for TanStack Query: `useQuery(service.events.getAll.queryOptions(input))`. */
export const service = createTRPCOptionsProxy({ client: api, queryClient });
