import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../platform/error.ts';

/** A login attempt that was admitted. It counts as a failure until it is reported otherwise. */
export interface Attempt {
  /**
   * The refusal if the address has failed too often; then only the correct password of an existing account is
   * accepted.
   */
  readonly addressIsOver: AppError | null;
  /** The password was correct: clears the failures of the account from this address. */
  succeed(): Promise<void>;
  /** The password could not be checked. */
  withdraw(): Promise<void>;
}

const WINDOW_SECONDS = 60;
const FAILURES_PER_ACCOUNT_AND_ADDRESS = 20;
const FAILURES_PER_ADDRESS = 200;

/** With three valid codes of a million, about one guess in three hundred days succeeds. */
const CODES = { points: 10, duration: 15 * 60 };

/** Logins at the provider that one address may begin: many users of a control room share one. */
const EXTERNAL = { points: 500, duration: 10 * 60 };

/** Codes that one user may have sent, and that one address may be sent: others may own it. */
const SENT_CODES = { points: 5, duration: 60 * 60 };
/** Links for a new password: e-mails that anybody can have sent to a user, and that one address can have sent. */
const RESETS = { points: 5, duration: 60 * 60 };
const RESETS_PER_ADDRESS = { points: 30, duration: 60 * 60 };

/**
 * Few enough that concurrent attempts with the correct password, each counted before it is checked, do not reach the
 * limit.
 */
const ATTEMPTS_AT_ONCE = 4;

/** Maximum number of attempts on one account from one address, running or waiting in this process. */
const MAX_WAITING = 200;

/** Maximum number of waiting attempts from addresses that have failed too often, in this process. */
const MAX_WAITING_BEYOND = 20;

/**
 * The part of an address that identifies a subscriber: the first 64 bits of an IPv6 address, otherwise the whole
 * address. An IPv4 address in IPv6 notation counts as the IPv4 address.
 */
export function subscriberOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

interface Turn {
  readonly limit: LimitFunction;
  attempts: number;
}

/**
 * Slows down password guessing, per account and address and per address, without locking anybody out permanently. The
 * counts are stored in the database and shared by all processes. Failed passwords are counted for a minute, so a mistyped
 * password delays its owner by a minute at most.
 */
export class LoginThrottle {
  readonly #pairs: RateLimiterPostgres;
  readonly #addresses: RateLimiterPostgres;
  readonly #codes: RateLimiterPostgres;
  readonly #external: RateLimiterPostgres;
  readonly #sentCodes: RateLimiterPostgres;
  readonly #resets: RateLimiterPostgres;
  readonly #resetsFrom: RateLimiterPostgres;
  readonly #turns = new Map<string, Turn>();
  readonly #beyond = pLimit(1);

  constructor(pool: Pool) {
    const counted = {
      storeClient: pool,
      tableName: 'failed_logins',
      tableCreated: true,
      duration: WINDOW_SECONDS,
    };
    this.#pairs = new RateLimiterPostgres({ ...counted, points: FAILURES_PER_ACCOUNT_AND_ADDRESS });
    this.#addresses = new RateLimiterPostgres({ ...counted, points: FAILURES_PER_ADDRESS });
    this.#codes = new RateLimiterPostgres({ ...counted, ...CODES });
    this.#external = new RateLimiterPostgres({ ...counted, ...EXTERNAL });
    this.#sentCodes = new RateLimiterPostgres({ ...counted, ...SENT_CODES });
    this.#resets = new RateLimiterPostgres({ ...counted, ...RESETS });
    this.#resetsFrom = new RateLimiterPostgres({ ...counted, ...RESETS_PER_ADDRESS });
  }

  /**
   * Counts an attempt before its password is checked, so that concurrent attempts cannot exceed the limit.
   * @throws AppError `tooManyRequests` while the account has failed too often from this address
   */
  async begin(email: string, address: string): Promise<Attempt> {
    const [pairs, addresses] = [this.#pairs, this.#addresses];
    const subscriber = subscriberOf(address);
    const pair = keyOf(email, subscriber);
    const pairIsOver = await count(pairs, pair, TOO_MANY_LOGINS);
    if (pairIsOver) throw pairIsOver;
    const addressIsOver = await count(addresses, keyOf(subscriber), TOO_MANY_LOGINS);
    return {
      addressIsOver,
      async succeed() {
        await Promise.all([pairs.delete(pair), addresses.reward(keyOf(subscriber))]);
      },
      async withdraw() {
        await Promise.all([pairs.reward(pair), addresses.reward(keyOf(subscriber))]);
      },
    };
  }

  /**
   * Counts an attempt with the code of a second factor, from any address: the password was already correct.
   * It counts as a failure until it is reported otherwise.
   * @throws AppError `tooManyRequests` while there were too many failures
   */
  async beginCode(userId: string): Promise<{ succeed(): Promise<void> }> {
    const key = keyOf('second factor', userId);
    const isOver = await count(this.#codes, key, 'Too many wrong codes: wait fifteen minutes and try again');
    if (isOver) throw isOver;
    return { succeed: async () => void (await this.#codes.delete(key)) };
  }

  /**
   * Counts a login that begins at the provider, whether or not it is completed.
   * @throws AppError `tooManyRequests` while too many have started from this address
   */
  async beginExternal(address: string): Promise<void> {
    const key = keyOf('external', subscriberOf(address));
    const refusal = 'Too many logins have started from this address: wait ten minutes and try again';
    const isOver = await count(this.#external, key, refusal);
    if (isOver) throw isOver;
  }

  /**
   * Counts a code that is sent to an address at the request of a user.
   * @throws AppError `tooManyRequests` after too many to that address, or of that user
   */
  async beginSentCode(userId: string, address: string): Promise<void> {
    const refusal = 'Too many codes were sent: wait an hour and try again';
    for (const key of [keyOf('code of', userId), keyOf('code to', address.toLowerCase())]) {
      const isOver = await count(this.#sentCodes, key, refusal);
      if (isOver) throw isOver;
    }
  }

  /**
   * Counts a request for a link by which a password is set, whether or not there is such an account.
   * @throws AppError `tooManyRequests`
   */
  async beginReset(email: string, address: string): Promise<void> {
    const refusal = 'Too many links were asked for: wait an hour and try again';
    const isOver =
      (await count(this.#resetsFrom, keyOf('resets from', subscriberOf(address)), refusal)) ??
      (await count(this.#resets, keyOf('reset', email), refusal));
    if (isOver) throw isOver;
  }

  /** Runs the attempts on one account from one address a few at a time. */
  async inTurn<Result>(email: string, address: string, work: () => Promise<Result>): Promise<Result> {
    const key = keyOf(email, subscriberOf(address));
    const turn = this.#turns.get(key) ?? { limit: pLimit(ATTEMPTS_AT_ONCE), attempts: 0 };
    if (turn.attempts >= MAX_WAITING) {
      throw new AppError('tooManyRequests', 'Too many logins at once: wait a minute and try again', {
        retryAfterSeconds: WINDOW_SECONDS,
      });
    }
    this.#turns.set(key, turn);
    turn.attempts++;
    try {
      return await turn.limit(work);
    } finally {
      if (--turn.attempts === 0) this.#turns.delete(key);
    }
  }

  /**
   * Runs attempts from addresses that have failed too often one at a time, so that they do not delay others.
   * @returns null, without running the work, while too many are waiting
   */
  async oneByOne<Result>(work: () => Promise<Result>): Promise<Result | null> {
    return this.#beyond.pendingCount >= MAX_WAITING_BEYOND ? null : this.#beyond(work);
  }
}

/** Users may enter anything as e-mail address, even a password, so the database gets only a hash of it. */
function keyOf(...words: readonly string[]): string {
  return hash('sha256', words.join('\u0000'), 'base64url');
}

const TOO_MANY_LOGINS = 'Too many failed logins: wait a minute and try again';

/** Counts one attempt. @returns the refusal if the limit is exceeded */
async function count(limiter: RateLimiterPostgres, key: string, refusal: string): Promise<AppError | null> {
  try {
    await limiter.consume(key);
    return null;
  } catch (thrown) {
    if (!(thrown instanceof RateLimiterRes)) throw thrown;
    return new AppError('tooManyRequests', refusal, { retryAfterSeconds: thrown.msBeforeNext / 1000 });
  }
}
