import type { Role } from '@gantry/contract/permissions';
import { recordActivity } from '../activity/store.ts';
import type { Core, RequestContext } from '../platform/context.ts';
import { isUniqueViolation } from '../platform/database/failure.ts';
import { inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, unavailable } from '../platform/error.ts';
import { generatePassword } from './generated-password.ts';
import type { ExternalUser } from './oidc/provider.ts';
import { findIdentity, findUserByEmail, insertIdentity } from './oidc/store.ts';
import type { AuthServices } from './start.ts';
import { insertUser, lockUser, type UserRow, updateLockedUser } from './users-store.ts';

type Context = RequestContext<Core & Pick<AuthServices, 'passwords'>>;

/**
 * Finds the user to whom an account at the login provider belongs, and gives them the role that the provider states. An
 * account that is new here is linked to the user with its verified e-mail address, or gets a user of its own.
 * @returns the id of the user
 * @throws AppError `forbidden` when the user has no role, is deactivated, or is new and has no verified e-mail address;
 * `unavailable` when the account logs in twice at the same time
 */
export async function admitExternalUser(ctx: Context, account: ExternalUser): Promise<string> {
  const { app } = ctx;
  if (account.role === null) throw noRole();
  try {
    return await inTransaction(app.db, async (tx) => {
      const known = await findIdentity(tx, account.issuer, account.subject);
      const userId = known ?? (await link(ctx, tx, account));
      await keepInStep(ctx, tx, userId, account);
      return userId;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw unavailable('Two logins of this account came at the same time: try again', error);
  }
}

async function link(ctx: Context, tx: Transaction, account: ExternalUser): Promise<string> {
  const { issuer, subject, email, role } = account;
  if (role === null) throw noRole();
  if (email === null) {
    throw refusal(
      'The login provider has not verified your e-mail address: verify it there, then log in again',
    );
  }
  const existing = await findUserByEmail(tx, email);
  const userId = existing ?? (await createUser(ctx, tx, { ...account, email, role }));
  await insertIdentity(tx, { issuer, subject, userId });
  if (existing === null)
    await recordActivity(tx, userId, ctx.caller, 'users.create', { userId, email, role, issuer });
  else await recordActivity(tx, userId, ctx.caller, 'users.linkIdentity', { userId, email, issuer, subject });
  return userId;
}

/** Creates a user with a random password, which is never shown; an administrator can set another one. */
async function createUser(
  { app }: Context,
  tx: Transaction,
  { email, firstName, lastName, role }: ExternalUser & { readonly email: string; readonly role: Role },
): Promise<string> {
  const passwordHash = await app.passwords.hash(generatePassword());
  const fields = { email, firstName, lastName, role, phone: null, department: null, passwordHash };
  return (await insertUser(tx, fields)).id;
}

/** Gives the user the role of the provider, unless that would demote the last active administrator. */
async function keepInStep(
  { app, caller }: Context,
  tx: Transaction,
  userId: string,
  { role, issuer }: ExternalUser,
): Promise<void> {
  const { user, isLastAdministrator } = await lockUser(tx, userId);
  requireActive(user);
  if (role === null) throw noRole();
  if (role === user.role) return;
  if (isLastAdministrator) {
    app.log.warn(
      { userId, role },
      'the last active administrator keeps that role, although the login provider gives another one',
    );
    return;
  }
  await updateLockedUser(tx, userId, { role }, { endSessions: true });
  const changes = { role: { from: user.role, to: role } };
  await recordActivity(tx, userId, caller, 'users.updateRole', {
    userId,
    email: user.email,
    changes,
    issuer,
  });
}

function requireActive({ isActive }: UserRow): void {
  if (!isActive) throw refusal('Your account is deactivated: ask an administrator');
}

function noRole(): AppError {
  return refusal('Your account at the login provider has no role here: ask an administrator');
}

function refusal(message: string): AppError {
  return new AppError('forbidden', message);
}
