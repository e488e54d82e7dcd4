import { userInfo } from 'node:os';
import type { CreateUserInput, User } from '@gantry/contract/users';
import { NOBODY, recordActivity } from '../activity/store.ts';
import type { Caller } from '../platform/context.ts';
import type { Database } from '../platform/database/pool.ts';
import { inTransaction } from '../platform/database/transaction.ts';
import { revokeAllApiTokens } from './api-tokens-store.ts';
import type { Passwords } from './passwords.ts';
import { removeSecondFactor } from './second-factor-store.ts';
import { findUserId, insertUser, lockUser, updateLockedUser } from './users-store.ts';

// Changes to accounts by the administrator of the machine, who is not logged in. The activity log records them under
// the changed account.

interface CommandApp {
  readonly db: Database;
  readonly passwords: Passwords;
}

/** The origin of a command's change in the activity log. */
export function callerOf(command: string): Caller {
  return {
    requestId: '',
    since: performance.now(),
    address: 'local',
    host: null,
    userAgent: `gantry ${command}`,
    authorization: null,
  };
}

/** The user of the operating system, who is recorded with the action. */
export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Records that the administrator of the machine is shown plates by a command, under nobody. */
export function recordLookByCommand(
  db: Database,
  command: string,
  filter: Readonly<Record<string, unknown>>,
): Promise<void> {
  const details = { procedure: `gantry ${command}`, systemUser: systemUser(), filter };
  return recordActivity(db, NOBODY, callerOf(command), 'events.view', details);
}

/** An account whose password was reset. */
export interface ResetAccount {
  readonly user: User;
  /** Whether the account was deactivated before. It is active again only if `activate` was chosen. */
  readonly wasInactive: boolean;
  /** Whether a second factor was removed. */
  readonly hadSecondFactor: boolean;
  /** The number of API tokens that were revoked. */
  readonly revokedTokens: number;
}

/** What to do besides setting the password. */
export interface ResetChoices {
  /** Activate a deactivated account. */
  readonly activate: boolean;
  /** Remove the second factor with its recovery codes. */
  readonly removeSecondFactor: boolean;
}

/**
 * Sets the password of the account with the e-mail address (lower case), ends its sessions and revokes its API tokens.
 * @returns null when there is no such account
 */
export async function resetPasswordByCommand(
  { db, passwords }: CommandApp,
  email: string,
  password: string,
  choices: ResetChoices,
): Promise<ResetAccount | null> {
  const passwordHash = await passwords.hash(password);
  return inTransaction(db, async (tx) => {
    const id = await findUserId(tx, email);
    if (id === null) return null;
    const { user: before } = await lockUser(tx, id);
    const wasInactive = !before.isActive;
    const isActivated = choices.activate && wasInactive;
    const changes = isActivated ? { passwordHash, isActive: true } : { passwordHash };
    const user = await updateLockedUser(tx, id, changes, { endSessions: true });
    const hadSecondFactor = choices.removeSecondFactor && (await removeSecondFactor(tx, id));
    const revokedTokens = await revokeAllApiTokens(tx, id);
    const details = {
      userId: id,
      email,
      systemUser: systemUser(),
      ...(revokedTokens > 0 && { revokedTokens }),
      ...(isActivated && { activated: true }),
      ...(hadSecondFactor && { secondFactorRemoved: true }),
    };
    await recordActivity(tx, id, callerOf('admin reset-password'), 'users.resetPassword', details);
    return { user, wasInactive, hadSecondFactor, revokedTokens };
  });
}

/** Creates an account. Fails with a unique violation when the e-mail address is in use. */
export async function createUserByCommand(
  { db, passwords }: CommandApp,
  { password, ...input }: CreateUserInput,
): Promise<User> {
  const passwordHash = await passwords.hash(password);
  return inTransaction(db, async (tx) => {
    const user = await insertUser(tx, { ...input, passwordHash });
    const details = { userId: user.id, email: user.email, role: user.role, systemUser: systemUser() };
    await recordActivity(tx, user.id, callerOf('admin create'), 'users.create', details);
    return user;
  });
}
