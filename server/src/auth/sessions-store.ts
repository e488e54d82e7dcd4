import type { Session } from '@gantry/contract/auth';
import { isUuid } from '@gantry/contract/id';
import type { Role } from '@gantry/contract/permissions';
import { and, desc, eq, gt, isNull, ne, sql } from 'drizzle-orm';
import type { Caller } from '../platform/context.ts';
import { prepare } from '../platform/database/prepared.ts';
import { sessions, users } from '../platform/database/tables.ts';
import type { Executor, Transaction } from '../platform/database/transaction.ts';
import type { TokenClaims, TokenSession } from './tokens.ts';

/** The user of a good token, and the session it belongs to. */
export interface TokenUser {
  /** Which of the tokens that were asked about it is, from 1. */
  readonly position: number;
  readonly id: string;
  readonly email: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly role: Role;
  readonly sessionEpoch: number;
  /** Unix milliseconds; null for a token from before there were sessions that was not refreshed yet. */
  readonly startedAt: number | null;
  readonly endsAt: number | null;
  /** Whether the last use that was written down is more than a minute ago. */
  readonly isSeenLongAgo: boolean;
}

// A token without a session has its own id for one: the session that it is refreshed into has the same.
const FIND_USERS = prepare<TokenUser & Record<string, unknown>>(
  'find_session_users',
  sql`SELECT token.position::int, u.id, u.email, u.first_name AS "firstName", u.last_name AS "lastName", u.role,
    u.session_epoch AS "sessionEpoch",
    (extract(epoch FROM s.started_at) * 1000)::float8 AS "startedAt",
    (extract(epoch FROM s.expires_at) * 1000)::float8 AS "endsAt",
    coalesce(s.last_seen_at < now() - interval '1 minute', false) AS "isSeenLongAgo"
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

/** The users of those tokens that are still good: their user is active, and their session neither ended nor over. */
export function findSessionUsers(db: Executor, claims: readonly TokenClaims[]): Promise<TokenUser[]> {
  return FIND_USERS(db, {
    users: claims.map(({ userId }) => userId),
    tokens: claims.map(({ tokenId }) => tokenId),
    sessions: claims.map(({ sessionId }) => sessionId),
    epochs: claims.map(({ sessionEpoch }) => sessionEpoch),
  });
}

/** Longest user agent that is kept, in characters. */
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
}

/** Begins a session. */
export async function insertSession(
  db: Executor,
  caller: Caller,
  { userId, epoch, lifetimeDays }: Begin,
): Promise<TokenSession> {
  const expiresAt = sql`now() + make_interval(days => ${lifetimeDays})`;
  const [row] = await db
    .insert(sessions)
    .values({ userId, epoch, expiresAt, ...originOf(caller) })
    .returning(sessionColumns);
  if (!row) throw new Error('INSERT returned no row');
  return row;
}

interface Adopt extends Begin {
  readonly tokenId: string;
  readonly issuedAt: Date;
}

/** Makes a session for a token from before there were sessions; answers the one that there is, should somebody have done so. */
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
  if (!row) throw new Error('The session that was just begun is gone');
  return row;
}

const isLive = and(isNull(sessions.endedAt), gt(sessions.expiresAt, sql`now()`));

/** Most sessions that are listed. */
const MOST_LISTED = 100;

/** The sessions of a user in which tokens are good, those that were used last first; at most a hundred. */
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
    .limit(MOST_LISTED);
  return rows.map((row) => ({ ...row, current: row.id === currentId }));
}

/**
 * Ends a session, and with it every token that was issued or refreshed in it.
 * @param userId whose session it must be; null when it may be anybody's
 * @returns whose it was; null when there is no such session, or it has ended already
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

/** Keeps one session good when the epoch of its user was raised, and ends the others. */
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

/** Writes down that sessions are in use, unless that was done within the last minute or is being done. */
export async function markSeen(db: Executor, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    UPDATE sessions SET last_seen_at = now() WHERE id IN (
      SELECT id FROM sessions
      WHERE id = ANY(${sql.param(ids)}::uuid[]) AND last_seen_at < now() - interval '1 minute'
      FOR NO KEY UPDATE SKIP LOCKED)`);
}

const PRUNED_AT_ONCE = 5_000;

/**
 * Forgets sessions that expired more than a day ago, and revocations of tokens that have expired; at most some
 * thousands of each. @returns how many are gone
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
