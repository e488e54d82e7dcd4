import { FRESH_LOGIN_MINUTES } from '@gantry/contract/api-tokens';
import type { Session } from '@gantry/contract/auth';
import { isUuid } from '@gantry/contract/id';
import type { Role } from '@gantry/contract/permissions';
import { and, desc, eq, gt, isNull, ne, sql } from 'drizzle-orm';
import type { Caller } from '../platform/context.ts';
import { sessions, users } from '../platform/database/tables.ts';
import { type Executor, prepare, type Transaction } from '../platform/database/transaction.ts';
import type { TokenClaims, TokenSession } from './tokens.ts';

/** The user and the session of a valid token. */
export interface TokenUser {
  /** The position of the token in the query, from 1. */
  readonly position: number;
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly sessionEpoch: number;
  /** Unix milliseconds; null for a token from before sessions existed that has not been refreshed. */
  readonly startedAt: number | null;
  readonly endsAt: number | null;
  /** Whether the last recorded use is more than a minute ago. */
  readonly isSeenLongAgo: boolean;
  /** Whether the user has a second factor, or has logged in at the provider, which decides on that itself. */
  readonly hasSecondFactor: boolean;
}

// A token without a session uses its own id: the session that it is refreshed into has the same id.
const FIND_USERS = prepare<TokenUser & Record<string, unknown>>(
  'find_session_users',
  sql`SELECT token.position::int, u.id, u.email, u.first_name AS "firstName", u.last_name AS "lastName", u.role,
    u.session_epoch AS "sessionEpoch",
    (extract(epoch FROM s.started_at) * 1000)::float8 AS "startedAt",
    (extract(epoch FROM s.expires_at) * 1000)::float8 AS "endsAt",
    coalesce(s.last_seen_at < now() - interval '1 minute', false) AS "isSeenLongAgo",
    coalesce(s.by_provider, false)
      OR EXISTS (SELECT FROM second_factors f WHERE f.user_id = u.id AND f.confirmed_at IS NOT NULL) AS "hasSecondFactor"
  FROM unnest(${sql.placeholder('users')}::uuid[], ${sql.placeholder('tokens')}::uuid[],
    ${sql.placeholder('sessions')}::uuid[], ${sql.placeholder('epochs')}::integer[])
    WITH ORDINALITY AS token (user_id, id, session_id, epoch, position)
  JOIN users u ON u.id = token.user_id
  LEFT JOIN sessions s ON s.id = coalesce(token.session_id, token.id)
  WHERE u.is_active
    AND CASE WHEN s.id IS NULL THEN token.session_id IS NULL AND token.epoch = u.session_epoch
      ELSE s.user_id = u.id AND s.ended_at IS NULL AND s.expires_at > now() AND s.epoch = u.session_epoch END
    AND NOT EXISTS (SELECT FROM revoked_tokens revoked WHERE revoked.token_id = token.id)`,
);

/** The users of those tokens that are valid: the user is active, and the session has neither ended nor expired. */
export function findSessionUsers(db: Executor, claims: readonly TokenClaims[]): Promise<TokenUser[]> {
  return FIND_USERS(db, {
    users: claims.map(({ userId }) => userId),
    tokens: claims.map(({ tokenId }) => tokenId),
    sessions: claims.map(({ sessionId }) => sessionId),
    epochs: claims.map(({ sessionEpoch }) => sessionEpoch),
  });
}

/** Maximum length of a stored user agent, in characters. */
const USER_AGENT_MAX = 300;

const sessionColumns = {
  id: sessions.id,
  epoch: sessions.epoch,
  startedAt: sessions.startedAt,
  expiresAt: sessions.expiresAt,
};

interface Begin {
  readonly userId: string;
  readonly epoch: number;
  readonly lifetimeDays: number;
  /** Whether the user logged in at the provider. Default: false. */
  readonly byProvider?: boolean;
}

/** Starts a session. */
export async function insertSession(
  db: Executor,
  caller: Caller,
  { userId, epoch, lifetimeDays, byProvider = false }: Begin,
): Promise<TokenSession> {
  const expiresAt = sql`now() + make_interval(days => ${lifetimeDays})`;
  const [row] = await db
    .insert(sessions)
    .values({ userId, epoch, expiresAt, byProvider, ...originOf(caller) })
    .returning(sessionColumns);
  if (!row) throw new Error('INSERT returned no row');
  return row;
}

interface Adopt extends Begin {
  readonly tokenId: string;
  readonly issuedAt: Date;
}

/** Creates a session for a token from before sessions existed, or returns the one that another call has created. */
export async function adoptToken(
  tx: Transaction,
  caller: Caller,
  { tokenId, issuedAt, userId, epoch, lifetimeDays }: Adopt,
): Promise<TokenSession> {
  const started = sql`${issuedAt.toISOString()}::timestamptz`;
  await tx
    .insert(sessions)
    .values({
      id: tokenId,
      userId,
      epoch,
      startedAt: started,
      expiresAt: sql`${started} + make_interval(days => ${lifetimeDays})`,
      ...originOf(caller),
    })
    .onConflictDoNothing();
  const [row] = await tx.select(sessionColumns).from(sessions).where(eq(sessions.id, tokenId));
  if (!row) throw new Error('The session that was just started does not exist');
  return row;
}

/** Whether the session began at the login provider a few minutes ago. */
export async function isFreshByProvider(db: Executor, id: string): Promise<boolean> {
  const isFresh = gt(sessions.startedAt, sql`now() - make_interval(mins => ${FRESH_LOGIN_MINUTES})`);
  return (await db.$count(sessions, and(eq(sessions.id, id), eq(sessions.byProvider, true), isFresh))) > 0;
}

const isLive = and(isNull(sessions.endedAt), gt(sessions.expiresAt, sql`now()`));

/** Maximum number of sessions in a list. */
const MAX_LISTED = 100;

/** The active sessions of a user, the current one first, then the most recently used; at most a hundred. */
export async function listSessions(db: Executor, userId: string, currentId: string): Promise<Session[]> {
  const rows = await db
    .select({
      id: sessions.id,
      startedAt: sessions.startedAt,
      lastSeenAt: sessions.lastSeenAt,
      expiresAt: sessions.expiresAt,
      ipAddress: sessions.ipAddress,
      userAgent: sessions.userAgent,
    })
    .from(sessions)
    .innerJoin(users, and(eq(users.id, sessions.userId), eq(users.sessionEpoch, sessions.epoch)))
    .where(and(eq(sessions.userId, userId), isLive))
    .orderBy(desc(sql`${sessions.id} = ${currentId}`), desc(sessions.lastSeenAt), desc(sessions.id))
    .limit(MAX_LISTED);
  return rows.map((row) => ({ ...row, current: row.id === currentId }));
}

/**
 * Ends a session, and with it every token that was issued or refreshed in it.
 * @param userId the required owner of the session; null for any
 * @returns the owner; null when there is no such session, or it has ended already
 */
export async function endSession(db: Executor, id: string, userId: string | null): Promise<string | null> {
  if (!isUuid(id)) return null;
  const [row] = await db
    .update(sessions)
    .set({ endedAt: sql`now()` })
    .where(and(eq(sessions.id, id), isLive, userId === null ? undefined : eq(sessions.userId, userId)))
    .returning({ userId: sessions.userId });
  return row?.userId ?? null;
}

/** Keeps one session valid when the epoch of its user was raised, and ends the others. */
export async function keepOnly(
  tx: Transaction,
  { id, userId, epoch }: { id: string; userId: string; epoch: number },
): Promise<void> {
  await tx
    .update(sessions)
    .set({ endedAt: sql`now()` })
    .where(and(eq(sessions.userId, userId), ne(sessions.id, id), isNull(sessions.endedAt)));
  await tx.update(sessions).set({ epoch }).where(eq(sessions.id, id));
}

/** Records that sessions are in use, unless that was done within the last minute or is being done. */
export async function markSeen(db: Executor, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    UPDATE sessions SET last_seen_at = now() WHERE id IN (
      SELECT id FROM sessions
      WHERE id = ANY(${sql.param(ids)}::uuid[]) AND last_seen_at < now() - interval '1 minute'
      FOR NO KEY UPDATE SKIP LOCKED)`);
}

const PRUNED_AT_ONCE = 5_000;

/**
 * Removes sessions that expired more than a day ago, and revocations of expired tokens, at most some thousands of each.
 * @returns the larger of the two numbers of removed rows; 0 when nothing is left to remove
 */
export async function pruneSessions(db: Executor): Promise<number> {
  const { rowCount } = await db.execute(sql`
    DELETE FROM sessions WHERE id IN (
      SELECT id FROM sessions WHERE expires_at < now() - interval '1 day'
      LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED)`);
  const { rowCount: revoked } = await db.execute(sql`
    DELETE FROM revoked_tokens WHERE token_id IN (
      SELECT token_id FROM revoked_tokens WHERE expires_at < now()
      LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED)`);
  return Math.max(rowCount ?? 0, revoked ?? 0);
}

function originOf({ address, userAgent }: Caller) {
  return {
    ipAddress: address,
    userAgent: userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null,
  };
}
