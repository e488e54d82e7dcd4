import { recordFailedLogin } from '../activity/store.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';

/**
 * Records a wrong password or code in the activity log and in the log of the service.
 * @param userId null for an unknown e-mail address
 */
export async function noteFailedLogin(
  { app: { db, refusals }, caller }: RequestContext<Core>,
  userId: string | null,
): Promise<void> {
  const { address } = caller;
  await recordFailedLogin(db, userId, caller);
  // Without the e-mail address: people enter passwords in its place.
  refusals.note(`login ${address} ${userId}`, 'a login failed', () => ({ address, userId }));
}

/**
 * Passes on the outcome of an attempt to log in. A refusal after too many failures is logged.
 * @param about the account, as far as it is known
 */
export async function notingThrottle<Outcome>(
  { app, caller: { address } }: RequestContext<Core>,
  attempt: Promise<Outcome>,
  about: { readonly userId?: string } = {},
): Promise<Outcome> {
  try {
    return await attempt;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'tooManyRequests') {
      const fields = { address, ...about };
      app.refusals.note(
        `throttled ${Object.values(fields).join(' ')}`,
        'logins were refused after too many failures',
        () => fields,
      );
    }
    throw error;
  }
}
