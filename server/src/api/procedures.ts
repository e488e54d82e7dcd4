import type { ErrorBody } from '@gantry/contract/envelope';
import { type Page, pageCount } from '@gantry/contract/page';
import { type Permission, permissionNames } from '@gantry/contract/permissions';
import { initTRPC } from '@trpc/server';
import {
  callerAs,
  requireLogin,
  requirePermission,
  type SessionContext,
  type SignedInUser,
  signIn,
} from '../accounts/session.ts';
import { hidePlates } from '../events/hidden-plates.ts';
import { noteLooks } from '../events/note-looks.ts';
import type { RequestContext } from '../platform/context.ts';
import { failureOf } from '../rpc/errors.ts';
import { useOwnMessages } from '../rpc/input-messages.ts';
import { transformer } from '../rpc/output.ts';
import type { Guard, ProcedureMeta, Shown } from '../rpc/procedure.ts';
import { authenticateSensor, type DeviceContext } from '../sensors/sensor-keys.ts';
import { requireFeature } from '../system/features.ts';
import type { AppContext } from './context.ts';

const NOTHING_MORE = {};

/** The procedures that users may call before they have set up a second factor that their role requires. */
const BEFORE_SECOND_FACTOR: ReadonlySet<string> = new Set([
  'auth.me',
  'auth.refreshToken',
  'auth.changePassword',
  'auth.getSessions',
  'auth.revokeSession',
  'secondFactor.getState',
  'secondFactor.start',
  'secondFactor.confirm',
]);

/** Anybody. A token is ignored. */
const anybody: Guard<object, AppContext> = ({ app }, { path, type, readInput }) => {
  requireFeature(app.config, path, type);
  readInput();
  return NOTHING_MORE;
};

/** Anybody or, if the settings say so, every user who is logged in. What it shows contains no plates. */
const anybodyUnlessPrivate: Guard<object, AppContext> = (ctx, call) =>
  ctx.app.config.PUBLIC_SENSORS ? anybody(ctx, call) : signIn(ctx).then(() => anybody(ctx, call));

/** Every user who is logged in. */
const anyUser = userWho(() => undefined);

/** Every user who is logged in, but no API token. */
const anyPerson = userWho(requireLogin);

/** Users whose role has the permission. */
function holdersOf(permission: Permission) {
  return userWho((actor) => requirePermission(actor, permission, permissionNames[permission]));
}

/** Users whose role has the permission, but no API token. */
function peopleWith(permission: Permission) {
  return userWho((actor) => {
    requirePermission(actor, permission, permissionNames[permission]);
    requireLogin(actor);
  });
}

/** What a device's call adds to its context. */
interface DeviceCall extends Pick<DeviceContext, 'sensor'> {
  /** Its input before validation, which drops unknown fields. */
  readonly given: unknown;
}

/** Devices, by the API key in the input, which is checked before the rest of the input. */
const anyDevice: Guard<DeviceCall, AppContext> = (ctx, { readInput }) => {
  const given = readInput();
  const sensor = authenticateSensor(ctx, given);
  return sensor instanceof Promise ? sensor.then((found) => ({ sensor: found, given })) : { sensor, given };
};

/**
 * Users who are logged in and pass `check`. Those from whom plates are hidden are shown none; what others are shown is
 * recorded.
 */
function userWho(
  check: (actor: SignedInUser) => void,
): Guard<Pick<SessionContext, 'actor' | 'caller'> & Shown, AppContext> {
  return async (ctx, { path, type, readInput }) => {
    const actor = await signIn(ctx, BEFORE_SECOND_FACTOR.has(path));
    check(actor);
    requireFeature(ctx.app.config, path, type);
    readInput();
    const caller = callerAs(ctx.caller, actor);
    const looking = { app: ctx.app, actor, caller };
    const show: Shown['show'] = actor.seesPlates
      ? (call) => noteLooks(looking, call)
      : ({ schema }) =>
          (answer) =>
            hidePlates(answer, schema);
    return { actor, caller, show };
  };
}

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

/** The answer with one page of a list. @param name of the field with the items @param take the size of a page */
export function pageOf<Name extends string, Item>(name: Name, { items, total }: Page<Item>, take: number) {
  const page = { [name]: items } as { [Field in Name]: Item[] };
  return { ...page, total, pageCount: pageCount(total, take) };
}

/** Logs that a call of a device, or an event of a batch, was refused because of what the device sent. */
export function noteRefusedDevice(ctx: RequestContext<AppContext>, procedure: string, error: unknown): void {
  const { body, unexpected } = failureOf(error);
  const { code } = body.data;
  // Outages are logged as such, and a device repeats what was refused with 503 or timed out.
  if (unexpected || code === 'SERVICE_UNAVAILABLE' || code === 'TIMEOUT') return;
  const { address } = ctx.caller;
  const { sensor } = ctx as Partial<DeviceContext>;
  ctx.app.refusals.note(
    `${procedure} ${code} ${address} ${sensor?.id}`,
    'a call of a device was refused',
    () => ({
      address,
      sensorId: sensor?.id ?? null,
      sensor: sensor?.name ?? null,
      procedure,
      code,
      reason: body.message,
    }),
  );
}
