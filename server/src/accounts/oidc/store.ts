import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm';
import { externalIdentities, oidcLogins, users } from '../../platform/database/tables.ts';
import type { Executor, Transaction } from '../../platform/database/transaction.ts';

/** A login at the provider that has started. Hashes are SHA-256. */
interface Started {
  readonly stateHash: string;
  readonly codeVerifier: string;
  readonly nonce: string;
  readonly challenge: string;
}

/** Stores a login that has started. @returns false when too many are under way */
export async function insertStartedLogin(
  db: Executor,
  { stateHash, codeVerifier, nonce, challenge }: Started,
  { seconds, most }: { readonly seconds: number; readonly most: number },
): Promise<boolean> {
  const { rowCount } = await db.execute(sql`
    INSERT INTO oidc_logins (key_hash, code_verifier, nonce, challenge, expires_at)
    SELECT ${stateHash}, ${codeVerifier}, ${nonce}, ${challenge}, now() + make_interval(secs => ${seconds})
    WHERE (SELECT count(*) FROM oidc_logins WHERE expires_at > now()) < ${most}`);
  return rowCount === 1;
}

/** Takes a login that has started, which can be done once. */
export async function takeBegun(db: Executor, stateHash: string) {
  const [row] = await db
    .delete(oidcLogins)
    .where(
      and(eq(oidcLogins.keyHash, stateHash), isNull(oidcLogins.userId), gt(oidcLogins.expiresAt, sql`now()`)),
    )
    .returning();
  const { codeVerifier, nonce, challenge } = row ?? {};
  return codeVerifier && nonce && challenge ? { codeVerifier, nonce, challenge } : null;
}

/** Stores a login that the provider has confirmed, to be exchanged for a token. */
export async function insertConfirmed(
  db: Executor,
  confirmed: { readonly codeHash: string; readonly challenge: string; readonly userId: string },
  seconds: number,
): Promise<void> {
  const { codeHash: keyHash, challenge, userId } = confirmed;
  const expiresAt = sql`now() + make_interval(secs => ${seconds})`;
  await db.insert(oidcLogins).values({ keyHash, challenge, userId, expiresAt });
}

/** Takes a confirmed login, which can be done once. */
export async function takeConfirmed(db: Executor, codeHash: string) {
  const [row] = await db
    .delete(oidcLogins)
    .where(
      and(
        eq(oidcLogins.keyHash, codeHash),
        isNotNull(oidcLogins.userId),
        gt(oidcLogins.expiresAt, sql`now()`),
      ),
    )
    .returning({ challenge: oidcLogins.challenge, userId: oidcLogins.userId });
  return row?.userId ? { challenge: row.challenge, userId: row.userId } : null;
}

/** Removes logins that were not completed in time. @returns the number of removed rows */
export async function pruneOidcLogins(db: Executor, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM oidc_logins WHERE key_hash IN (
      SELECT key_hash FROM oidc_logins WHERE expires_at < now() LIMIT ${most} FOR UPDATE SKIP LOCKED)`);
  return rowCount ?? 0;
}

/** The id of the user to whom an account at the provider belongs; null when there is none. */
export async function findIdentity(tx: Transaction, issuer: string, subject: string): Promise<string | null> {
  const [row] = await tx
    .select({ userId: externalIdentities.userId })
    .from(externalIdentities)
    .where(and(eq(externalIdentities.issuer, issuer), eq(externalIdentities.subject, subject)));
  return row?.userId ?? null;
}

/** Links an account at the provider to a user. Fails with a unique violation when it is linked already. */
export async function insertIdentity(
  tx: Transaction,
  identity: { readonly issuer: string; readonly subject: string; readonly userId: string },
): Promise<void> {
  await tx.insert(externalIdentities).values(identity);
}

/** The id of the user with the e-mail address (lower case); null when there is none. */
export async function findUserByEmail(tx: Transaction, email: string): Promise<string | null> {
  const [row] = await tx.select({ id: users.id }).from(users).where(eq(users.email, email));
  return row?.id ?? null;
}
