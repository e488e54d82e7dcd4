import { pageCount } from '@gantry/contract/page';
import type {
  ActivityLog,
  ActivityLogEntry,
  ActivityLogInput,
  CreateUserInput,
  ResetPasswordInput,
  UpdateRoleInput,
  UpdateUserInput,
  User,
} from '@gantry/contract/users';
import {
  type ActivityAction,
  type ActivityRow,
  findActivities,
  listActivityLog,
  NOBODY,
  recordActivity,
} from '../activity/store.ts';
import type { ActorContext, Core } from '../platform/context.ts';
import { isUniqueViolation } from '../platform/database/failure.ts';
import { type Executor, inTransaction, type Transaction } from '../platform/database/transaction.ts';
import { AppError, found, invalidInput } from '../platform/error.ts';
import { resolveInterval } from '../platform/time.ts';
import { revokeAllApiTokens } from './api-tokens-store.ts';
import { findNames } from './names-store.ts';
import { generatePassword, requireUncommon } from './passwords.ts';
import { removeSecondFactor } from './second-factor-store.ts';
import type { AuthServices } from './start.ts';
import {
  changesOf,
  deleteLockedUser,
  describeChanges,
  endsAdministration,
  endsSessions,
  getUser,
  insertUser,
  lockUser,
  updateLockedUser,
  userOf,
  type WantedFields,
} from './users-store.ts';

/** @throws AppError `badRequest` when the e-mail address is in use or the password is a common one */
export async function createUser(
  { app, actor, caller }: ActorContext<Core & Pick<AuthServices, 'passwords'>>,
  { password, ...input }: CreateUserInput,
): Promise<User> {
  requireUncommon('password', password);
  const passwordHash = await app.passwords.hash(password);
  try {
    return await inTransaction(app.db, async (tx) => {
      const user = await insertUser(tx, { ...input, passwordHash });
      const details = { userId: user.id, email: user.email, role: user.role };
      await recordActivity(tx, actor.id, caller, 'users.create', details);
      return user;
    });
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError('badRequest', `The e-mail ${input.email} is already in use: choose another one`);
  }
}

/**
 * Sets the given fields. Deactivation ends the user's sessions and revokes their API tokens; unchanged values are not
 * recorded.
 * @throws AppError `notFound`; `badRequest` when it would deactivate the last active administrator
 */
export function updateUser(ctx: ActorContext, { id, ...wanted }: UpdateUserInput): Promise<User> {
  return change(ctx, 'users.update', id, wanted);
}

/**
 * Changes the user's role, which ends their sessions and limits their API tokens. The present role is not recorded again.
 * @throws AppError `notFound`; `badRequest` when it would demote the last active administrator
 */
export function updateRole(ctx: ActorContext, { id, role }: UpdateRoleInput): Promise<User> {
  return change(ctx, 'users.updateRole', id, { role });
}

/**
 * Deletes the user, which ends their sessions. Their actions stay in the activity log with their name.
 * @throws AppError `notFound`; `badRequest` for the last active administrator
 */
export function deleteUser(
  { app, actor, caller }: ActorContext,
  id: string,
): Promise<{ success: true; id: string }> {
  return inTransaction(app.db, async (tx) => {
    const { user, isLastAdministrator } = await lockUser(tx, id);
    if (isLastAdministrator) throw lastAdministrator();
    await deleteLockedUser(tx, user);
    const details = { userId: user.id, email: user.email, role: user.role };
    await recordActivity(tx, actor.id, caller, 'users.delete', details);
    return { success: true as const, id: user.id };
  });
}

/**
 * Sets the password, or a generated one, which is returned only once. Ends the user's sessions and revokes their API
 * tokens.
 * @throws AppError `notFound`; `badRequest` when it should be sent by e-mail, which this service cannot do, or for a
 * common password
 */
export async function resetPassword(
  { app, actor, caller }: ActorContext<Core & Pick<AuthServices, 'passwords'>>,
  { userId, newPassword, sendEmail }: ResetPasswordInput,
): Promise<{ success: true; password?: string }> {
  if (sendEmail) {
    throw invalidInput(
      'sendEmail',
      'No mail is configured, so the password cannot be sent: omit sendEmail and pass the password on yourself',
    );
  }
  if (newPassword !== undefined) requireUncommon('newPassword', newPassword);
  // Done before hashing, which is more expensive than finding that the user does not exist.
  const { id } = await getUser(app.db, userId);
  const password = newPassword ?? generatePassword();
  const passwordHash = await app.passwords.hash(password);
  await inTransaction(app.db, async (tx) => {
    const { user } = await lockUser(tx, id);
    await updateLockedUser(tx, id, { passwordHash }, { endSessions: true });
    const revoked = await revokeTokens(tx, id);
    const details = { userId: id, email: user.email, generated: newPassword === undefined, ...revoked };
    await recordActivity(tx, actor.id, caller, 'users.resetPassword', details);
  });
  return newPassword === undefined ? { success: true, password } : { success: true };
}

/**
 * Removes the second factor of another user, who has lost it. Their recovery codes end with it.
 * @throws AppError `notFound`; `badRequest` for one's own, or when the user has none
 */
export async function resetSecondFactor(
  { app, actor, caller }: ActorContext,
  userId: string,
): Promise<{ success: true }> {
  const { id, email } = await getUser(app.db, userId);
  if (id === actor.id) {
    throw invalidInput('userId', 'This is your own second factor: use secondFactor.disable');
  }
  await inTransaction(app.db, async (tx) => {
    if (!(await removeSecondFactor(tx, id))) throw invalidInput('userId', 'This user has no second factor');
    await recordActivity(tx, actor.id, caller, 'users.resetSecondFactor', { userId: id, email });
  });
  return { success: true };
}

/** Revokes the API tokens of a user. @returns their number for the activity log, if there were any */
async function revokeTokens(tx: Transaction, userId: string): Promise<{ readonly revokedTokens?: number }> {
  const revokedTokens = await revokeAllApiTokens(tx, userId);
  return revokedTokens > 0 ? { revokedTokens } : {};
}

function lastAdministrator(): AppError {
  return new AppError(
    'badRequest',
    'This is the last active administrator: make another user an administrator first',
  );
}

function change(
  { app, actor, caller }: ActorContext,
  action: ActivityAction,
  id: string,
  wanted: WantedFields,
): Promise<User> {
  return inTransaction(app.db, async (tx) => {
    const { user, isLastAdministrator } = await lockUser(tx, id);
    const changes = changesOf(user, wanted);
    if (Object.keys(changes).length === 0) return userOf(user);
    if (isLastAdministrator && endsAdministration(changes)) throw lastAdministrator();
    const changed = await updateLockedUser(tx, user.id, changes, { endSessions: endsSessions(changes) });
    const revoked = changes.isActive === false ? await revokeTokens(tx, user.id) : {};
    const details = {
      userId: user.id,
      email: user.email,
      changes: describeChanges(user, changes),
      ...revoked,
    };
    await recordActivity(tx, actor.id, caller, action, details);
    return changed;
  });
}

/** A page of the actions of all users, newest first, with the names of the users, including deleted ones. */
export async function viewActivityLog({ app }: ActorContext, input: ActivityLogInput): Promise<ActivityLog> {
  const interval = resolveInterval(input, app.settings.current().timezone);
  const { items, total } = await listActivityLog(app.db, input, interval);
  return { activities: await viewEntries(app.db, items), total, pageCount: pageCount(total, input.take) };
}

/** @throws AppError `notFound` */
export async function viewActivity({ app }: ActorContext, id: string): Promise<ActivityLogEntry> {
  return found(await viewEntries(app.db, await findActivities(app.db, [id])), 'Entry of the activity log');
}

/** Entries of the activity log with the names of users. */
export async function viewEntries(db: Executor, rows: readonly ActivityRow[]): Promise<ActivityLogEntry[]> {
  const personOf = (userId: string) => (userId === NOBODY ? null : userId);
  const nameOf = await findNames(
    db,
    rows.map(({ userId }) => personOf(userId)),
  );
  return rows.map(({ id, userId, at, action, ipAddress, userAgent, details }) => ({
    id: String(id),
    by: nameOf(personOf(userId)),
    action,
    timestamp: new Date(at),
    ipAddress,
    userAgent,
    details,
  }));
}
