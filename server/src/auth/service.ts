import { type SessionUser, TOKEN_LIFETIME_SECONDS } from '@gantry/contract/auth';
import { recordFailedLogin } from '../activity/gathered-store.ts';
import { recordActivity } from '../activity/store.ts';
import type { ActorContext, RequestContext } from '../context.ts';
import { inTransaction } from '../database/transaction.ts';
import { AppError } from '../error.ts';
import { findActor } from './session.ts';
import { findLogin, revokeToken, setLastLogin } from './store.ts';

/** The actor as callers see them. */
export const sessionUserOf = ({ id, email, firstName, lastName, role }: SessionUser): SessionUser => ({
  id,
  email,
  firstName,
  lastName,
  role,
});

/**
 * Exchanges an e-mail and password for a token.
 * @throws AppError `unauthorized` when they do not fit; `tooManyRequests` after too many failures
 */
export const login = async (
  { app, caller }: RequestContext,
  input: { email: string; password: string },
): Promise<{ token: string; user: SessionUser }> => {
  const email = input.email.trim().toLowerCase();
  await app.loginThrottle.check(email, caller.address);
  const found = email.includes('\u0000') ? null : await findLogin(app.db, email.toWellFormed());
  if (!(await app.passwords.verify(found?.passwordHash ?? null, input.password)) || !found) {
    await app.loginThrottle.recordFailure(email, caller.address);
    await recordFailedLogin(app.db, found?.id ?? null, caller);
    throw new AppError('unauthorized', 'Invalid credentials');
  }
  await app.loginThrottle.recordSuccess(email, caller.address);
  await inTransaction(app.db, async (tx) => {
    await setLastLogin(tx, found.id);
    await recordActivity(tx, found.id, caller, 'auth.login');
  });
  const user = sessionUserOf(found);
  return { token: await app.tokens.issue(user, found.sessionEpoch), user };
};

/** Revokes the token it is called with, on every process. Without a good token there is nothing to revoke. */
export const logout = async (ctx: RequestContext): Promise<void> => {
  const actor = await findActor(ctx);
  if (!actor) return;
  await inTransaction(ctx.app.db, async (tx) => {
    await revokeToken(tx, actor.token.id, actor.token.expiresAt);
    await recordActivity(tx, actor.id, ctx.caller, 'auth.logout');
  });
};

/** A new token for the caller; the current one stays good until it expires. */
export const refreshToken = async ({ app, actor }: ActorContext) => {
  const user = sessionUserOf(actor);
  return {
    token: await app.tokens.issue(user, actor.sessionEpoch),
    expiresIn: TOKEN_LIFETIME_SECONDS,
    user,
  };
};
