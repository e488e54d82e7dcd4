import { isUuid } from '@gantry/contract/id';
import { and, eq, sql } from 'drizzle-orm';
import { users } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import { found, notFound } from '../platform/error.ts';

const loginColumns = {
  sessionEpoch: users.sessionEpoch,
  id: users.id,
  email: users.email,
  firstName: users.firstName,
  lastName: users.lastName,
  role: users.role,
  passwordHash: users.passwordHash,
};

/** The active user with the e-mail address (lower case), with the data for a login. */
export async function findLogin(db: Executor, email: string) {
  const [row] = await db
    .select(loginColumns)
    .from(users)
    .where(and(eq(users.email, email), eq(users.isActive, true)));
  return row ?? null;
}

/** A user who may set a new password by e-mail. */
export interface Resettable {
  readonly id: string;
  readonly email: string;
  readonly sessionEpoch: number;
}

/** The active user with the e-mail address (lower case), unless an account at the provider belongs to them. */
export async function findResettable(db: Executor, email: string): Promise<Resettable | null> {
  const [row] = await db
    .select({ id: users.id, email: users.email, sessionEpoch: users.sessionEpoch })
    .from(users)
    .where(
      and(
        eq(users.email, email),
        eq(users.isActive, true),
        sql`NOT EXISTS (SELECT FROM external_identities WHERE user_id = ${users.id})`,
      ),
    );
  return row ?? null;
}

/** The active user with the id, with the data for a login. */
export async function findAccount(db: Executor, id: string) {
  const [row] = await db
    .select(loginColumns)
    .from(users)
    .where(and(eq(users.id, id), eq(users.isActive, true)));
  return row ?? null;
}

/**
 * Records the time of a login of an active user. The row stays locked, so that the user cannot be deleted or
 * deactivated until the transaction ends.
 * @param epoch the session epoch that the user must still have, if given
 * @returns false when the user has been deleted or deactivated, or the epoch has changed
 */
export async function setLastLogin(tx: Transaction, userId: string, epoch?: number): Promise<boolean> {
  const { rowCount } = await tx
    .update(users)
    .set({ lastLogin: sql`now()` })
    .where(
      and(
        eq(users.id, userId),
        eq(users.isActive, true),
        epoch === undefined ? undefined : eq(users.sessionEpoch, epoch),
      ),
    );
  return rowCount === 1;
}

/**
 * Replaces the password of an active user and raises their epoch, which ends their sessions.
 * @returns the new epoch; null when the password has changed since it was read
 */
export async function replacePassword(
  tx: Transaction,
  userId: string,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<number | null> {
  const [row] = await tx
    .update(users)
    .set({
      passwordHash: to,
      sessionEpoch: sql`${users.sessionEpoch} + 1`,
      updatedAt: sql`greatest(clock_timestamp(), ${users.updatedAt} + interval '1 millisecond')`,
    })
    .where(and(eq(users.id, userId), eq(users.isActive, true), eq(users.passwordHash, from)))
    .returning({ epoch: users.sessionEpoch });
  return row?.epoch ?? null;
}

/**
 * Raises the epoch of an active user, which ends their sessions.
 * @returns the new epoch
 * @throws AppError `notFound`
 */
export async function raiseEpoch(tx: Transaction, id: string): Promise<number> {
  const row = found(
    await tx
      .update(users)
      .set({ sessionEpoch: sql`${users.sessionEpoch} + 1` })
      .where(and(eq(users.id, id), eq(users.isActive, true)))
      .returning({ epoch: users.sessionEpoch }),
    'User',
  );
  return row.epoch;
}

/**
 * Locks the account of an active user against changes by other transactions.
 * @returns the session epoch, which grows whenever the sessions of the user end
 * @throws AppError `notFound`
 */
export async function lockAccount(tx: Transaction, id: string): Promise<{ readonly sessionEpoch: number }> {
  return found(
    await tx
      .select({ sessionEpoch: users.sessionEpoch })
      .from(users)
      .where(and(eq(users.id, id), eq(users.isActive, true)))
      .for('no key update'),
    'User',
  );
}

/** @throws AppError `notFound` when there is no such user */
export async function requireUser(db: Executor, id: string): Promise<void> {
  const found = isUuid(id) ? await db.select({ id: users.id }).from(users).where(eq(users.id, id)) : [];
  if (found.length === 0) throw notFound('User');
}
