import { and, eq, exists, lt, not, sql } from 'drizzle-orm';
import { revokedTokens, users } from '../database/tables.ts';
import type { Executor } from '../database/transaction.ts';
import type { TokenClaims } from './tokens.ts';

const sessionColumns = {
  sessionEpoch: users.sessionEpoch,
  id: users.id,
  email: users.email,
  firstName: users.firstName,
  lastName: users.lastName,
  role: users.role,
};

/** The user of a token that is still good: not logged out, and its user active and in the same session epoch. */
export const findSessionUser = async (db: Executor, claims: TokenClaims) => {
  const loggedOut = db.select().from(revokedTokens).where(eq(revokedTokens.tokenId, claims.tokenId));
  const [row] = await db
    .select(sessionColumns)
    .from(users)
    .where(
      and(
        eq(users.id, claims.userId),
        eq(users.isActive, true),
        eq(users.sessionEpoch, claims.sessionEpoch),
        not(exists(loggedOut)),
      ),
    );
  return row ?? null;
};

/** The active user with the e-mail (lower case), with what a login needs. */
export const findLogin = async (db: Executor, email: string) => {
  const [row] = await db
    .select({ ...sessionColumns, passwordHash: users.passwordHash })
    .from(users)
    .where(and(eq(users.email, email), eq(users.isActive, true)));
  return row ?? null;
};

export const setLastLogin = async (db: Executor, userId: string): Promise<void> => {
  await db.update(users).set({ lastLogin: sql`now()` }).where(eq(users.id, userId));
};

/** Revokes a token on every process. Tokens that have expired meanwhile are forgotten. */
export const revokeToken = async (db: Executor, tokenId: string, expiresAt: Date): Promise<void> => {
  await db.insert(revokedTokens).values({ tokenId, expiresAt }).onConflictDoNothing();
  await db.delete(revokedTokens).where(lt(revokedTokens.expiresAt, sql`now()`));
};
