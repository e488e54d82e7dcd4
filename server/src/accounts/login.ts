import type { ChangePasswordInput, GetSessionsInput, Session, SessionUser } from '@gantry/contract/auth';
import { mayDo, permissionNames } from '@gantry/contract/permissions';
import { normalizePassword } from '@gantry/contract/users';
import { recordActivity } from '../activity/store.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { AppError, invalidInput, notFound } from '../platform/error.ts';
import { settleApiTokens } from './api-tokens-store.ts';
import { checkPassword } from './check-password.ts';
import { findAccount, findLogin, replacePassword, requireUser, setLastLogin } from './login-store.ts';
import { requireUncommon } from './passwords.ts';
import { secondFactorMissing } from './role-settings.ts';
import { checkSecondFactor } from './second-factor-codes.ts';
import { currentSession, findSignedIn, requirePermission, type SessionContext } from './session.ts';
import { endSession, insertSession, keepOnly, listSessions } from './sessions-store.ts';
import type { AuthServices } from './start.ts';

/** The actor as the API shows it. */
export function sessionUserOf({ id, email, firstName, lastName, role }: SessionUser): SessionUser {
  return {
    id,
    email,
    firstName,
    lastName,
    role,
  };
}

/**
 * Exchanges an e-mail address and password, and the code of a second factor, for a token, which starts a session.
 * @throws AppError `unauthorized` when they do not match, or the code is missing or wrong; `tooManyRequests` after too
 * many failures
 */
export async function login(
  ctx: RequestContext<Core & AuthServices>,
  input: { email: string; password: string; code?: string | undefined },
): Promise<{ token: string; user: SessionUser }> {
  const { app } = ctx;
  const email = input.email.trim().toLowerCase();
  const find = async () => (email.includes('\u0000') ? null : findLogin(app.db, email.toWellFormed()));
  const found = await checkPassword(ctx, email, input.password, find);
  if (!found) throw invalidCredentials();
  await checkSecondFactor(ctx, found.id, input.code);
  const started = await beginSession(ctx, found.id, undefined, found);
  // The user may have been deleted or changed since the password was checked.
  if (!started) throw invalidCredentials();
  return started;
}

/**
 * Starts a session of an active user, and records the login.
 * @param details for the activity log
 * @param found the user, if the caller has read it
 * @returns null when there is no such user, or its session epoch has grown since it was read
 */
export async function beginSession(
  { app, caller }: RequestContext<Core & AuthServices>,
  userId: string,
  details?: { readonly method: 'oidc' },
  found?: SessionUser & { readonly sessionEpoch: number },
): Promise<{ token: string; user: SessionUser } | null> {
  const started = await inTransaction(app.db, async (tx) => {
    if (!(await setLastLogin(tx, userId, found?.sessionEpoch))) return null;
    const account = found ?? (await findAccount(tx, userId));
    if (!account) return null;
    await recordActivity(tx, userId, caller, 'auth.login', details);
    const lifetimeDays = app.config.SESSION_LIFETIME_DAYS;
    return {
      account,
      session: await insertSession(tx, caller, {
        userId,
        epoch: account.sessionEpoch,
        lifetimeDays,
        byProvider: details?.method === 'oidc',
      }),
    };
  });
  if (!started) return null;
  const user = sessionUserOf(started.account);
  const { token } = await app.tokens.issue(user, started.session);
  return { token, user };
}

/**
 * Ends the session of the token, and with it every token that was refreshed from it, on every process. Without a
 * valid token it does nothing.
 */
export async function logout(ctx: RequestContext<Core & AuthServices>): Promise<void> {
  const actor = await findSignedIn(ctx);
  if (!actor || actor.apiToken) return;
  await inTransaction(ctx.app.db, async (tx) => {
    const { id } = await currentSession({ ...ctx, actor }, tx);
    await endSession(tx, id, actor.id);
    await recordActivity(tx, actor.id, ctx.caller, 'auth.logout');
  });
}

/** Issues a new token in the session of the caller; the current one stays valid until it expires. */
export async function refreshToken(ctx: SessionContext) {
  const { app, actor } = ctx;
  const user = sessionUserOf(actor);
  const session = actor.session ?? (await inTransaction(app.db, (tx) => currentSession(ctx, tx)));
  const { token, expiresIn } = await app.tokens.issue(user, session);
  return { token, expiresIn, user };
}

/**
 * The sessions of the caller or, for callers who manage users, of any user.
 * @throws AppError `forbidden` for the sessions of another user without that permission, or while the caller has to set
 * up a second factor; `notFound` when there is no such user
 */
export async function getSessions(ctx: SessionContext, { userId }: GetSessionsInput): Promise<Session[]> {
  const { app, actor } = ctx;
  const wanted = userId?.toLowerCase() ?? actor.id;
  if (wanted !== actor.id) {
    requirePermission(actor, 'manageUsers', permissionNames.manageUsers);
    if (actor.lacksSecondFactor) throw secondFactorMissing();
    await requireUser(app.db, wanted);
  }
  const session = actor.session ?? (await inTransaction(app.db, (tx) => currentSession(ctx, tx)));
  return listSessions(app.db, wanted, session.id);
}

/**
 * Ends a session of the caller or, for callers who manage users and do not have to set up a second factor first, of any
 * user.
 * @throws AppError `notFound` when there is no such session that the caller may end
 */
export async function revokeSession(
  { app, actor, caller }: SessionContext,
  id: string,
): Promise<{ success: true; id: string }> {
  const mayEndAny = mayDo(actor.role, 'manageUsers') && !actor.lacksSecondFactor;
  return inTransaction(app.db, async (tx) => {
    const userId = await endSession(tx, id, mayEndAny ? null : actor.id);
    if (userId === null) throw notFound('Session');
    const sessionId = id.toLowerCase();
    await recordActivity(tx, actor.id, caller, 'auth.sessionRevoked', { sessionId, userId });
    return { success: true, id: sessionId };
  });
}

/**
 * Changes the caller's password. The current session continues, all others end; API tokens end if the caller wishes.
 * @throws AppError `badRequest` when the current password is wrong or the new one is the same or a common one;
 * `tooManyRequests` after too many failures, which count together with failed logins
 */
export async function changePassword(
  ctx: SessionContext,
  { currentPassword, newPassword, endApiTokens }: ChangePasswordInput,
): Promise<{ success: true; remainingApiTokens: number }> {
  const { app, actor, caller } = ctx;
  const found = await checkPassword(ctx, actor.email, currentPassword, () => findLogin(app.db, actor.email));
  if (!found) throw wrongPassword();
  if (normalizePassword(newPassword) === normalizePassword(currentPassword)) {
    throw invalidInput('newPassword', 'The new password is the current one: choose another');
  }
  requireUncommon('newPassword', newPassword);
  const passwordHash = await app.passwords.hash(newPassword);
  return inTransaction(app.db, async (tx) => {
    const { id } = await currentSession(ctx, tx);
    const epoch = await replacePassword(tx, actor.id, { from: found.passwordHash, to: passwordHash });
    if (epoch === null) throw wrongPassword();
    await keepOnly(tx, { id, userId: actor.id, epoch });
    const { remainingApiTokens, details } = await settleApiTokens(tx, actor.id, endApiTokens);
    await recordActivity(tx, actor.id, caller, 'auth.passwordChanged', details);
    return { success: true, remainingApiTokens };
  });
}

function invalidCredentials(): AppError {
  return new AppError('unauthorized', 'Invalid credentials');
}

function wrongPassword(): AppError {
  return invalidInput('currentPassword', 'The current password is wrong: type the one that you log in with');
}
