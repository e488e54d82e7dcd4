import { type Permission, permissionNames } from '@gantry/contract/permissions';
import {
  callerAs,
  requireLogin,
  requirePermission,
  type SessionContext,
  type SignedInUser,
  signIn,
} from '../accounts/session.ts';
import { hidePlates } from '../events/hidden-plates.ts';
import type { Guard, Shown } from '../rpc/procedure.ts';
import type { DeviceContext } from '../sensors/authenticate.ts';
import { authenticateSensor } from '../sensors/authenticate.ts';
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
export const anybody: Guard<object, AppContext> = ({ app }, { path, type, readInput }) => {
  requireFeature(app.config, path, type);
  readInput();
  return NOTHING_MORE;
};

/** Anybody or, if the settings say so, every user who is logged in. What it shows contains no plates. */
export const anybodyUnlessPrivate: Guard<object, AppContext> = (ctx, call) =>
  ctx.app.config.PUBLIC_SENSORS ? anybody(ctx, call) : signIn(ctx).then(() => anybody(ctx, call));

/** Every user who is logged in. */
export const anyUser = userWho(() => undefined);

/** Every user who is logged in, but no API token. */
export const anyPerson = userWho(requireLogin);

/** Users whose role has the permission. */
export function holdersOf(permission: Permission) {
  return userWho((actor) => requirePermission(actor, permission, permissionNames[permission]));
}

/** Users whose role has the permission, but no API token. */
export function peopleWith(permission: Permission) {
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
export const anyDevice: Guard<DeviceCall, AppContext> = (ctx, { readInput }) => {
  const given = readInput();
  const sensor = authenticateSensor(ctx, given);
  return sensor instanceof Promise ? sensor.then((found) => ({ sensor: found, given })) : { sensor, given };
};

/** Users who are logged in and pass `check`. Those from whom plates are hidden are shown none. */
function userWho(
  check: (actor: SignedInUser) => void,
): Guard<Pick<SessionContext, 'actor' | 'caller'> & Shown, AppContext> {
  return async (ctx, { path, type, readInput }) => {
    const actor = await signIn(ctx, BEFORE_SECOND_FACTOR.has(path));
    check(actor);
    requireFeature(ctx.app.config, path, type);
    readInput();
    const caller = callerAs(ctx.caller, actor);
    return actor.seesPlates ? { actor, caller } : { actor, caller, show: hidePlates };
  };
}
