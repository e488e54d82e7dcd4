import type { ErrorBody } from '@gantry/contract/envelope';
import type { Permission } from '@gantry/contract/permissions';
import { initTRPC } from '@trpc/server';
import type { RequestContext } from '../platform/context.ts';
import { failureOf } from '../rpc/errors.ts';
import { useOwnMessages } from '../rpc/input-messages.ts';
import { transformer } from '../rpc/output.ts';
import type { Guard, ProcedureMeta } from '../rpc/procedure.ts';
import type { AppContext } from './context.ts';
import { noteRefusedDevice } from './device-refusals.ts';
import {
  anybody,
  anybodyUnlessPrivate,
  anyDevice,
  anyPerson,
  anyUser,
  holdersOf,
  peopleWith,
} from './guards.ts';

/** A client reconnects a stream that was silent for this long, in milliseconds. Notes are sent every 10 s. */
const STREAM_SILENCE_MS = 30_000;

useOwnMessages();

const t = initTRPC
  .context<RequestContext<AppContext>>()
  .meta<ProcedureMeta<AppContext>>()
  .create({
    transformer,
    isDev: false,
    sse: { client: { reconnectAfterInactivityMs: STREAM_SILENCE_MS } },
    errorFormatter: ({ error }): ErrorBody => failureOf(error).body,
  });

export const router = t.router;

/** A procedure that anybody may call. */
export const open = guarded('open', anybody);

/** A procedure that anybody may call unless `PUBLIC_SENSORS` is false. */
export const openUnlessPrivate = guarded('open', anybodyUnlessPrivate);

/** A procedure for every user who is logged in, but not for API tokens. */
export const person = guarded('signedIn', anyPerson).meta({ needsLogin: true });

/** A procedure for users whose role has the permission, but not for API tokens. */
export function allowedPerson(permission: Permission) {
  return guarded('signedIn', peopleWith(permission)).meta({ permission, needsLogin: true });
}

/** A procedure for every user who is logged in. */
export const signedIn = guarded('signedIn', anyUser);

/** A procedure for users whose role has the permission. */
export function allowed(permission: Permission) {
  return guarded('signedIn', holdersOf(permission)).meta({ permission });
}

/** A procedure for devices. */
export const device = guarded('device', anyDevice).meta({ failed: noteRefusedDevice });

/** A procedure with a guard. `rpc/run.ts` calls the guard; the middleware only tells TypeScript what the guard adds. */
function guarded<More extends object>(access: ProcedureMeta['access'], guard: Guard<More, AppContext>) {
  return t.procedure.meta({ access, guard }).use(({ next }) => next({ ctx: addedBy<More>() }));
}

/** @throws Error if tRPC runs the procedure itself, without its guard */
function addedBy<More extends object>(): More {
  throw new Error('Procedures are run by rpc/run.ts');
}
