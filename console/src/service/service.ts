import { createGantryClient } from '@gantry/client';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { currentSession, onSessionChange } from '../session/session.ts';
import { serviceAddress } from './address.ts';
import { queryClient } from './queries.ts';

/** The service, called with the token of whoever is signed in. */
export const gantry = createGantryClient({ url: serviceAddress });

gantry.setToken(currentSession()?.token ?? null);
onSessionChange(() => gantry.setToken(currentSession()?.token ?? null));

/** Plain calls: `api.events.getById.query({ id })`. */
export const { api } = gantry;

/** Options for TanStack Query: `useQuery(service.events.getAll.queryOptions(input))`. */
export const service = createTRPCOptionsProxy({ client: api, queryClient });
