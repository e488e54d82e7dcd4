import { hash } from 'node:crypto';
import type { ApiToken } from '@gantry/contract/api-tokens';
import { isUuid } from '@gantry/contract/id';
import { mayActAs, type Role } from '@gantry/contract/permissions';
import { and, desc, eq, gt, isNull, sql } from 'drizzle-orm';
import { apiTokens } from '../platform/database/tables.ts';
import { type Executor, prepare, type Transaction } from '../platform/database/transaction.ts';

/** A valid API token and the user for whom it acts. */
interface TokenOwner {
  /** The position of the token in the query, from 1. */
  readonly position: number;
  readonly tokenId: string;
  readonly tokenName: string;
  /** The role that the token was given. */
  readonly role: Role;
  readonly ownerRole: Role;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly isUsedLongAgo: boolean;
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly sessionEpoch: number;
}

const FIND_OWNERS = prepare<TokenOwner & Record<string, unknown>>(
  'find_token_owners',
  sql`SELECT given.position::int, t.id AS "tokenId", t.name AS "tokenName", t.role, u.role AS "ownerRole",
    (extract(epoch FROM t.created_at) * 1000)::float8 AS "createdAt",
    (extract(epoch FROM t.expires_at) * 1000)::float8 AS "expiresAt",
    coalesce(t.last_used_at < now() - interval '1 minute', true) AS "isUsedLongAgo",
    u.id, u.email, u.first_name AS "firstName", u.last_name AS "lastName", u.session_epoch AS "sessionEpoch"
  FROM unnest(${sql.placeholder('hashes')}::text[]) WITH ORDINALITY AS given (hash, position)
  JOIN api_tokens t ON t.token_hash = given.hash
  JOIN users u ON u.id = t.user_id
  WHERE u.is_active AND t.revoked_at IS NULL AND t.expires_at > now()`,
);

/** The tokens with these hashes that have neither expired nor been revoked, and whose users are active. */
function findTokenOwners(db: Executor, hashes: readonly string[]): Promise<TokenOwner[]> {
  return FIND_OWNERS(db, { hashes: [...hashes] });
}

const columns = {
  id: apiTokens.id,
  name: apiTokens.name,
  role: apiTokens.role,
  prefix: apiTokens.prefix,
  createdAt: apiTokens.createdAt,
  expiresAt: apiTokens.expiresAt,
  lastUsedAt: apiTokens.lastUsedAt,
};

interface NewToken {
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  readonly prefix: string;
  readonly tokenHash: string;
}

/** Stores a token that expires after a number of days. */
export async function insertApiToken(tx: Transaction, token: NewToken, days: number): Promise<ApiToken> {
  const expiresAt = sql`now() + make_interval(days => ${days})`;
  const [row] = await tx
    .insert(apiTokens)
    .values({ ...token, expiresAt })
    .returning(columns);
  if (!row) throw new Error('INSERT returned no row');
  return row;
}

function isLive(userId: string) {
  return and(eq(apiTokens.userId, userId), isNull(apiTokens.revokedAt), gt(apiTokens.expiresAt, sql`now()`));
}

/** The tokens of a user that have neither expired nor been revoked, the newest first. */
export function listApiTokens(db: Executor, userId: string): Promise<ApiToken[]> {
  return db
    .select(columns)
    .from(apiTokens)
    .where(isLive(userId))
    .orderBy(desc(apiTokens.createdAt), desc(apiTokens.id));
}

/** Number of tokens of a user that have neither expired nor been revoked. */
export function countApiTokens(db: Executor, userId: string): Promise<number> {
  return db.$count(apiTokens, isLive(userId));
}

/**
 * Revokes an API token.
 * @param userId the required owner of the token; null for any
 * @returns null when there is no such token, or it was revoked already
 */
export async function revokeApiTokenRow(
  tx: Transaction,
  id: string,
  userId: string | null,
): Promise<{ readonly name: string; readonly userId: string } | null> {
  if (!isUuid(id)) return null;
  const [row] = await tx
    .update(apiTokens)
    .set({ revokedAt: sql`now()` })
    .where(
      and(
        eq(apiTokens.id, id),
        isNull(apiTokens.revokedAt),
        userId === null ? undefined : eq(apiTokens.userId, userId),
      ),
    )
    .returning({ name: apiTokens.name, userId: apiTokens.userId });
  return row ?? null;
}

/** Revokes all tokens of a user. @returns the number of tokens that were valid until now */
export async function revokeAllApiTokens(tx: Transaction, userId: string): Promise<number> {
  const { rowCount } = await tx.update(apiTokens).set({ revokedAt: sql`now()` }).where(isLive(userId));
  return rowCount ?? 0;
}

/**
 * Revokes all tokens of a user whose login changes, if the user wishes.
 * @returns the number of tokens that are valid, and what the activity log says
 */
export async function settleApiTokens(
  tx: Transaction,
  userId: string,
  end: boolean,
): Promise<{
  readonly remainingApiTokens: number;
  readonly details?: { readonly revokedTokens: number };
}> {
  const revokedTokens = end ? await revokeAllApiTokens(tx, userId) : 0;
  const remainingApiTokens = await countApiTokens(tx, userId);
  return { remainingApiTokens, ...(revokedTokens > 0 && { details: { revokedTokens } }) };
}

/** Records that tokens are in use, unless that was done within the last minute or is being done. */
export async function markTokensUsed(db: Executor, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    UPDATE api_tokens SET last_used_at = now() WHERE id IN (
      SELECT id FROM api_tokens
      WHERE id = ANY(${sql.param(ids)}::uuid[])
        AND coalesce(last_used_at < now() - interval '1 minute', true)
      FOR NO KEY UPDATE SKIP LOCKED)`);
}

/** Removes tokens that ended more than 90 days ago. @returns the number of removed rows */
export async function pruneApiTokens(db: Executor, most: number): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM api_tokens WHERE id IN (
      SELECT id FROM api_tokens WHERE least(revoked_at, expires_at) < now() - interval '90 days'
      LIMIT ${most} FOR UPDATE SKIP LOCKED)`);
  return rowCount ?? 0;
}

/** The SHA-256 hash of an API token, in hexadecimal. The token is random, so it needs no slow hash. */
export function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The owner of a token that is valid. */
export interface ValidOwner extends TokenOwner {
  /** The role with whose permissions the token acts now. */
  readonly actingRole: Role;
}

/**
 * The owners of the tokens with these hashes that are valid now. A token acts with its own role or
 * with that of its owner, whichever has fewer permissions. It is not valid while each of the two has permissions that
 * the other lacks.
 */
export async function findValidOwners(db: Executor, hashes: readonly string[]): Promise<ValidOwner[]> {
  return (await findTokenOwners(db, hashes)).flatMap((owner) => {
    const actingRole = lowerRole(owner.role, owner.ownerRole);
    return actingRole === null ? [] : [{ ...owner, actingRole }];
  });
}

/** The role whose permissions the other one has too; null if each has permissions that the other lacks. */
function lowerRole(one: Role, other: Role): Role | null {
  if (mayActAs(other, one)) return one;
  return mayActAs(one, other) ? other : null;
}
