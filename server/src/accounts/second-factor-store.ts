import { and, eq, isNotNull, isNull, lt, sql } from 'drizzle-orm';
import { recoveryCodes, secondFactors } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';

export type SecondFactorRow = typeof secondFactors.$inferSelect;

/** The second factor of a user, which may not be confirmed yet; null when there is none. */
export async function findSecondFactor(db: Executor, userId: string): Promise<SecondFactorRow | null> {
  const [row] = await db.select().from(secondFactors).where(eq(secondFactors.userId, userId));
  return row ?? null;
}

/** Stores a second factor that is to be confirmed. @returns false when the user has a confirmed one */
export async function insertSecondFactor(db: Executor, userId: string, secret: string): Promise<boolean> {
  const { rowCount } = await db
    .insert(secondFactors)
    .values({ userId, secret })
    .onConflictDoUpdate({
      target: secondFactors.userId,
      set: { secret, lastStep: 0, createdAt: sql`now()` },
      setWhere: isNull(secondFactors.confirmedAt),
    });
  return rowCount === 1;
}

/** Confirms a second factor with the code of a time step. @returns false when it is confirmed or was replaced */
export async function confirmSecondFactor(
  tx: Transaction,
  { userId, secret }: Pick<SecondFactorRow, 'userId' | 'secret'>,
  step: number,
): Promise<boolean> {
  const { rowCount } = await tx
    .update(secondFactors)
    .set({ confirmedAt: sql`now()`, lastStep: step })
    .where(
      and(
        eq(secondFactors.userId, userId),
        eq(secondFactors.secret, secret),
        isNull(secondFactors.confirmedAt),
      ),
    );
  return rowCount === 1;
}

/** Uses the code of a time step. @returns false when that code or a later one was used before */
export async function useStep(db: Executor, userId: string, step: number): Promise<boolean> {
  const { rowCount } = await db
    .update(secondFactors)
    .set({ lastStep: step })
    .where(
      and(
        eq(secondFactors.userId, userId),
        isNotNull(secondFactors.confirmedAt),
        lt(secondFactors.lastStep, step),
      ),
    );
  return rowCount === 1;
}

/**
 * Locks the confirmed second factor of a user until the transaction ends.
 * @returns false when it was removed or replaced
 */
export async function lockSecondFactor(
  tx: Transaction,
  { userId, secret }: Pick<SecondFactorRow, 'userId' | 'secret'>,
): Promise<boolean> {
  const rows = await tx
    .select({ userId: secondFactors.userId })
    .from(secondFactors)
    .where(
      and(
        eq(secondFactors.userId, userId),
        eq(secondFactors.secret, secret),
        isNotNull(secondFactors.confirmedAt),
      ),
    )
    .for('update');
  return rows.length === 1;
}

/** Removes the second factor of a user with its recovery codes. @returns false when there was none */
export async function removeSecondFactor(tx: Transaction, userId: string): Promise<boolean> {
  // First, so that it waits for a transaction that has locked it and adds recovery codes.
  const { rowCount } = await tx.delete(secondFactors).where(eq(secondFactors.userId, userId));
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  return rowCount === 1;
}

/** Replaces the recovery codes of a user, whose second factor the transaction has locked. */
export async function replaceRecoveryCodes(
  tx: Transaction,
  userId: string,
  hashes: readonly string[],
): Promise<void> {
  await tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  await tx.insert(recoveryCodes).values(hashes.map((codeHash) => ({ userId, codeHash })));
}

/** Uses a recovery code. @returns false when there is no such code */
export async function useRecoveryCode(tx: Transaction, userId: string, codeHash: string): Promise<boolean> {
  const { rowCount } = await tx
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, codeHash)));
  return rowCount === 1;
}

/** Number of recovery codes that a user has left. */
export function countRecoveryCodes(db: Executor, userId: string): Promise<number> {
  return db.$count(recoveryCodes, eq(recoveryCodes.userId, userId));
}
