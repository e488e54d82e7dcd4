import { setTimeout as sleep } from 'node:timers/promises';
import { recordFailedLogin } from '../activity/store.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { AppError } from '../platform/error.ts';
import type { AuthServices } from './start.ts';
import type { Attempt } from './throttle.ts';

interface Account {
  readonly id: string;
  readonly passwordHash: string;
}

/**
 * Checks the password of an account, within the limits on failures. A wrong one is recorded in the activity log, unless
 * the address has failed too often before.
 * @param email identifies the account, in lower case
 * @param find looks up the account; null when there is none
 * @returns the account; null when there is none or the password is wrong
 * @throws AppError `tooManyRequests` after too many failures
 */
export async function checkPassword<Found extends Account>(
  ctx: RequestContext<Core & AuthServices>,
  email: string,
  password: string,
  find: () => Promise<Found | null>,
): Promise<Found | null> {
  const { timings, loginThrottle, passwords } = ctx.app;
  const { address } = ctx.caller;
  const check = async (): Promise<Found | null> => {
    const account = await find();
    if (await passwords.verify(account?.passwordHash ?? null, password)) return account;
    await noteFailedLogin(ctx, account?.id ?? null);
    return null;
  };

  // No hash is computed here for an unknown account; otherwise guessing would keep the processor busy.
  const checkKnown = async (): Promise<Found | null> => {
    const account = await find();
    if (!account) return null;
    const fits = await loginThrottle.oneByOne(() => passwords.verify(account.passwordHash, password));
    return fits ? account : null;
  };

  const settle = async (attempt: Attempt): Promise<Found | null> => {
    const refusalTime = attempt.addressIsOver && sleep(timings.refuseLoginMs);
    const account = await (attempt.addressIsOver ? checkKnown() : check()).catch(async (error: unknown) => {
      await attempt.withdraw();
      throw error;
    });
    if (account) await attempt.succeed();
    else if (attempt.addressIsOver) {
      await refusalTime;
      throw attempt.addressIsOver;
    }
    return account;
  };

  return notingThrottle(
    ctx,
    loginThrottle.inTurn(email, address, async () => settle(await loginThrottle.begin(email, address))),
  );
}

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
