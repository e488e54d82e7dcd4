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

interface Monitored extends StreamUser {
  readonly onEnd: (reason: AppError) => void;
}

/** What the monitor of sessions needs. */
interface SessionMonitorParts {
  readonly db: Database;
  readonly config: Pick<Config, 'HIDE_PLATES_FROM' | 'SECOND_FACTOR_FOR'>;
  readonly log: Logger;
  readonly timings: Pick<Timings, 'checkSessionsMs'>;
}

/** Monitors tokens and sessions in use, for all calls and streams of this process. */
export class SessionMonitor implements AsyncDisposable {
  readonly #db: Database;
  readonly #config: SessionMonitorParts['config'];
  readonly #monitored = new Set<Monitored>();
  readonly #rounds: AsyncDisposable;
  #seen = new Set<string>();
  #used = new Set<string>();

  constructor({ db, config, log, timings }: SessionMonitorParts) {
    this.#db = db;
    this.#config = config;
    // While the database is unavailable, streams stay open until the next check.
    const failure = 'the sessions of open streams could not be checked; the next round will try again';
    this.#rounds = startPeriodic({ everyMs: timings.checkSessionsMs, log, failure }, () => this.#checkAll());
  }

  /**
   * Calls `onEnd` once the token is no longer valid because its session ended, or its user was deactivated or changed
   * role, or lacks a second factor that the role requires; and once an API token acts with another role, or its user
   * may no longer see the plates that are shown. It does not monitor the expiry of the access tokens of a session.
   * @returns a function that stops monitoring
   */
  monitor({ token, seesPlates }: StreamUser, onEnd: (reason: AppError) => void): () => void {
    const each = { token, seesPlates, onEnd };
    this.#monitored.add(each);
    return () => this.#monitored.delete(each);
  }

  /** Notes that the session is in use; the next check records it in the database. */
  seen(sessionId: string): void {
    this.#seen.add(sessionId);
  }

  /** Notes that the API token is in use; the next check records it in the database. */
  used(tokenId: string): void {
    this.#used.add(tokenId);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#rounds[Symbol.asyncDispose]();
  }

  async #checkAll(): Promise<void> {
    const all = [...this.#monitored];
    const ofPrograms = all.filter(({ token }) => token.apiTokenHash !== undefined);
    const ofSessions = all.filter(({ token }) => token.apiTokenHash === undefined);
    for (let at = 0; at < ofSessions.length; at += CHECKED_AT_ONCE) {
      await this.#checkSessions(ofSessions.slice(at, at + CHECKED_AT_ONCE));
    }
    for (let at = 0; at < ofPrograms.length; at += CHECKED_AT_ONCE) {
      await this.#checkApiTokens(ofPrograms.slice(at, at + CHECKED_AT_ONCE));
    }
    const [sessionIds, tokenIds] = [[...this.#seen], [...this.#used]];
    this.#seen = new Set();
    this.#used = new Set();
    if (sessionIds.length > 0) await markSeen(this.#db, sessionIds);
    if (tokenIds.length > 0) await markTokensUsed(this.#db, tokenIds);
  }

  async #checkApiTokens(part: readonly Monitored[]): Promise<void> {
    const hashes = part.flatMap(({ token }) => token.apiTokenHash ?? []);
    const owners = new Map((await findValidOwners(this.#db, hashes)).map((owner) => [owner.position, owner]));
    part.forEach(({ token, seesPlates, onEnd }, at) => {
      const owner = owners.get(at + 1);
      if (!owner) onEnd(invalidToken());
      else if (owner.actingRole !== token.role) onEnd(permissionsChanged());
      // Plates may be hidden from the role of its user although the token still acts with another one.
      else if (seesPlates !== mayRolesSeePlates(this.#config, owner.role, owner.ownerRole))
        onEnd(permissionsChanged());
      else if (owner.isUsedLongAgo) this.used(token.tokenId);
    });
  }

  async #checkSessions(part: readonly Monitored[]): Promise<void> {
    const tokens = part.map(({ token }) => token);
    const users = new Map((await findSessionUsers(this.#db, tokens)).map((user) => [user.position, user]));
    part.forEach(({ token, onEnd }, at) => {
      const user = users.get(at + 1);
      if (!user) onEnd(invalidToken());
      else if (lacksSecondFactor(this.#config, user)) onEnd(secondFactorMissing());
      else if (user.isSeenLongAgo) this.seen(token.sessionId ?? token.tokenId);
    });
  }
}
