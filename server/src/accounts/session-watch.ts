import type { Logger } from 'pino';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/database/pool.ts';
import { type AppError, unavailable } from '../platform/error.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Timings } from '../platform/timings.ts';
import { findValidOwners, markTokensUsed } from './api-tokens-store.ts';
import { lacksSecondFactor, mayRolesSeePlates, secondFactorMissing } from './role-settings.ts';
import { findSessionUsers, markSeen } from './sessions-store.ts';
import { invalidToken, type TokenClaims } from './tokens.ts';

/** Number of tokens that one statement checks. */
const CHECKED_AT_ONCE = 1_000;

/** The user of a stream. */
export interface StreamUser {
  readonly token: TokenClaims;
  /** Whether the stream shows number plates. */
  readonly seesPlates: boolean;
}

/**
 * The error that ends a stream of an API token that remains valid. Clients open it again, as after a restart of the
 * service.
 */
function permissionsChanged(): AppError {
  return unavailable('The permissions of this token have changed: open the stream again');
}

/** Watches tokens and sessions in use, for all calls and streams of this process. */
export interface SessionWatch extends AsyncDisposable {
  /**
   * Calls `onEnd` once the token is no longer valid because its session ended, or its user was deactivated or changed
   * role, or lacks a second factor that the role requires; and once an API token acts with another role, or its user
   * may no longer see the plates that are shown. It does not watch the expiry of the access tokens of a session.
   * @returns a function that stops watching
   */
  watch(user: StreamUser, onEnd: (reason: AppError) => void): () => void;
  /** Notes that the session is in use; the next check records it in the database. */
  seen(sessionId: string): void;
  /** Notes that the API token is in use; the next check records it in the database. */
  used(tokenId: string): void;
}

interface Watched extends StreamUser {
  readonly onEnd: (reason: AppError) => void;
}

export function createSessionWatch({
  db,
  config,
  log,
  timings,
}: {
  db: Database;
  config: Pick<Config, 'HIDE_PLATES_FROM' | 'SECOND_FACTOR_FOR'>;
  log: Logger;
  timings: Pick<Timings, 'checkSessionsMs'>;
}): SessionWatch {
  const watched = new Set<Watched>();
  let seen = new Set<string>();
  let used = new Set<string>();

  const checkApiTokens = async (part: readonly Watched[]): Promise<void> => {
    const hashes = part.flatMap(({ token }) => token.apiTokenHash ?? []);
    const owners = new Map((await findValidOwners(db, hashes)).map((owner) => [owner.position, owner]));
    part.forEach(({ token, seesPlates, onEnd }, at) => {
      const owner = owners.get(at + 1);
      if (!owner) onEnd(invalidToken());
      else if (owner.actingRole !== token.role) onEnd(permissionsChanged());
      // Plates may be hidden from the role of its user although the token still acts with another one.
      else if (seesPlates !== mayRolesSeePlates(config, owner.role, owner.ownerRole))
        onEnd(permissionsChanged());
      else if (owner.isUsedLongAgo) used.add(token.tokenId);
    });
  };

  const check = async (part: readonly Watched[]): Promise<void> => {
    const tokens = part.map(({ token }) => token);
    const users = new Map((await findSessionUsers(db, tokens)).map((user) => [user.position, user]));
    part.forEach(({ token, onEnd }, at) => {
      const user = users.get(at + 1);
      if (!user) onEnd(invalidToken());
      else if (lacksSecondFactor(config, user)) onEnd(secondFactorMissing());
      else if (user.isSeenLongAgo) seen.add(token.sessionId ?? token.tokenId);
    });
  };

  const markAll = async (): Promise<void> => {
    const [sessionIds, tokenIds] = [[...seen], [...used]];
    seen = new Set();
    used = new Set();
    if (sessionIds.length > 0) await markSeen(db, sessionIds);
    if (tokenIds.length > 0) await markTokensUsed(db, tokenIds);
  };

  // While the database is unavailable, streams stay open until the next check.
  const rounds = startPeriodic(
    {
      everyMs: timings.checkSessionsMs,
      log,
      failure: 'the sessions of open streams could not be checked; the next round will try again',
    },
    async () => {
      const all = [...watched];
      const ofPrograms = all.filter(({ token }) => token.apiTokenHash !== undefined);
      const ofSessions = all.filter(({ token }) => token.apiTokenHash === undefined);
      for (let at = 0; at < ofSessions.length; at += CHECKED_AT_ONCE) {
        await check(ofSessions.slice(at, at + CHECKED_AT_ONCE));
      }
      for (let at = 0; at < ofPrograms.length; at += CHECKED_AT_ONCE) {
        await checkApiTokens(ofPrograms.slice(at, at + CHECKED_AT_ONCE));
      }
      await markAll();
    },
  );

  return {
    watch({ token, seesPlates }, onEnd) {
      const each = { token, seesPlates, onEnd };
      watched.add(each);
      return () => watched.delete(each);
    },
    seen: (sessionId) => void seen.add(sessionId),
    used: (tokenId) => void used.add(tokenId),
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  };
}
