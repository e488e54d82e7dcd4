import { type Permission, permissionNames } from '@gantry/contract/permissions';
import { requirePermission, type SessionContext, signIn } from '../auth/session.ts';
import type { Actor } from '../platform/context.ts';
import type { Guard } from '../rpc/procedure.ts';
import type { DeviceContext } from '../sensors/authenticate.ts';
import { authenticateSensor } from '../sensors/authenticate.ts';
import { requireFeature } from '../system/features.ts';
import type { AppContext } from './context.ts';

const NOTHING_MORE = {};

/** Anybody. A token is ignored. */
export const anybody: Guard<object, AppContext> = ({ app }, { path, type, readInput }) => {
  requireFeature(app.config, path, type);
  readInput();
  return NOTHING_MORE;
};

/** Every user who is logged in. */
export const anyUser = userWho(() => undefined);

/** Users whose role has the permission. */
export function holdersOf(permission: Permission) {
  return userWho((actor) => requirePermission(actor, permission, permissionNames[permission]));
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

/** Users who are logged in and pass `check`. */
function userWho(check: (actor: Actor) => void): Guard<Pick<SessionContext, 'actor'>, AppContext> {
  return async (ctx, { path, type, readInput }) => {
    const actor = await signIn(ctx);
    check(actor);
    requireFeature(ctx.app.config, path, type);
    readInput();
    return { actor };
  };
}
