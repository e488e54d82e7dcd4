import type { Logger } from 'pino';
import type { Database } from '../platform/database/pool.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { Timings } from '../platform/timings.ts';
import { findSessionUsers, markSeen } from './sessions-store.ts';
import type { TokenClaims } from './tokens.ts';

/** Number of tokens that one statement checks. */
const CHECKED_AT_ONCE = 1_000;

/** Watches tokens and sessions in use, for all calls and streams of this process. */
export interface SessionWatch extends AsyncDisposable {
  /**
   * Calls `onEnd` once the token is no longer valid because its session ended, or its user was deactivated or changed
   * role. It does not watch the token's own expiry.
   * @returns a function that stops watching
   */
  watch(token: TokenClaims, onEnd: () => void): () => void;
  /** Records soon that the session is in use. */
  seen(sessionId: string): void;
}

interface Watched {
  readonly token: TokenClaims;
  readonly onEnd: () => void;
}

export function createSessionWatch({
  db,
  log,
  timings,
}: {
  db: Database;
  log: Logger;
  timings: Pick<Timings, 'checkSessionsMs'>;
}): SessionWatch {
  const watched = new Set<Watched>();
  let seen = new Set<string>();

  const check = async (part: readonly Watched[]): Promise<void> => {
    const tokens = part.map(({ token }) => token);
    const users = new Map((await findSessionUsers(db, tokens)).map((user) => [user.position, user]));
    part.forEach(({ token, onEnd }, at) => {
      const user = users.get(at + 1);
      if (!user) onEnd();
      else if (user.isSeenLongAgo) seen.add(token.sessionId ?? token.tokenId);
    });
  };

  const markAll = async (): Promise<void> => {
    const ids = [...seen];
    seen = new Set();
    if (ids.length > 0) await markSeen(db, ids);
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
      for (let at = 0; at < all.length; at += CHECKED_AT_ONCE) {
        await check(all.slice(at, at + CHECKED_AT_ONCE));
      }
      await markAll();
    },
  );

  return {
    watch(token, onEnd) {
      const each = { token, onEnd };
      watched.add(each);
      return () => watched.delete(each);
    },
    seen: (sessionId) => void seen.add(sessionId),
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  };
}
