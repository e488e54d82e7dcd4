import { hash } from 'node:crypto';
import ipaddr from 'ipaddr.js';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Pool } from 'pg';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../platform/error.ts';

/** An attempt to log in that was let in, and counted as a failure until it says otherwise. */
export interface Attempt {
  /** The refusal if the address has failed too often: only the right password of a known account gets past it. */
  readonly addressIsOver: AppError | null;
  /** The password was right: the failures of the account from this address are forgotten. */
  succeed(): Promise<void>;
  /** It was not found out whether the password is right. */
  withdraw(): Promise<void>;
}

/** Slows down guessing of passwords, per account and address and per address, without locking anybody out for good. */
export interface LoginThrottle {
  /**
   * Counts an attempt before its password is looked at, so that attempts at the same time cannot pass together.
   * @throws AppError `tooManyRequests` while the account from this address has failed too often
   */
  begin(email: string, address: string): Promise<Attempt>;
  /** Does the work of attempts on one account from one address a few at a time. */
  inTurn<Result>(email: string, address: string, work: () => Promise<Result>): Promise<Result>;
  /**
   * Does the work of attempts from addresses that have failed too often, one at a time, so that others are not kept waiting.
   * @returns null, and does nothing, while too many wait
   */
  oneByOne<Result>(work: () => Promise<Result>): Promise<Result | null>;
}

const WINDOW_SECONDS = 60;
const FAILURES_PER_ACCOUNT_AND_ADDRESS = 20;
const FAILURES_PER_ADDRESS = 200;

/** Few enough that right passwords at the same time, each counted before it is looked at, do not use up the failures. */
const ATTEMPTS_AT_ONCE = 4;

/** Attempts on one account from one address that are under way or wait in this process. */
const MAX_WAITING = 200;

/** Attempts from addresses that have failed too often that wait in this process. */
const MAX_WAITING_BEYOND = 20;

/**
 * Whom an address stands for: the first 64 bits of an IPv6 address, as a subscriber has all that begin with them, and
 * otherwise the address itself. An IPv4 address that is written as IPv6 is the IPv4 address.
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

/** Counts are shared by all processes, for a minute: a mistyped password costs its owner a minute at worst. */
export function createLoginThrottle(pool: Pool): LoginThrottle {
  const counted = {
    storeClient: pool,
    tableName: 'failed_logins',
    tableCreated: true,
    duration: WINDOW_SECONDS,
  };
  const pairs = new RateLimiterPostgres({ ...counted, points: FAILURES_PER_ACCOUNT_AND_ADDRESS });
  const addresses = new RateLimiterPostgres({ ...counted, points: FAILURES_PER_ADDRESS });
  const turns = new Map<string, { limit: LimitFunction; attempts: number }>();
  const beyond = pLimit(1);

  return {
    async begin(email, address) {
      const subscriber = subscriberOf(address);
      const pair = keyOf(email, subscriber);
      const pairIsOver = await count(pairs, pair);
      if (pairIsOver) throw pairIsOver;
      const addressIsOver = await count(addresses, keyOf(subscriber));
      return {
        addressIsOver,
        async succeed() {
          await Promise.all([pairs.delete(pair), addresses.reward(keyOf(subscriber))]);
        },
        async withdraw() {
          await Promise.all([pairs.reward(pair), addresses.reward(keyOf(subscriber))]);
        },
      };
    },

    async inTurn(email, address, work) {
      const key = keyOf(email, subscriberOf(address));
      const turn = turns.get(key) ?? { limit: pLimit(ATTEMPTS_AT_ONCE), attempts: 0 };
      if (turn.attempts >= MAX_WAITING) {
        throw new AppError('tooManyRequests', 'Too many logins at once: wait a minute and try again', {
          retryAfterSeconds: WINDOW_SECONDS,
        });
      }
      turns.set(key, turn);
      turn.attempts++;
      try {
        return await turn.limit(work);
      } finally {
        if (--turn.attempts === 0) turns.delete(key);
      }
    },

    oneByOne: async (work) => (beyond.pendingCount >= MAX_WAITING_BEYOND ? null : beyond(work)),
  };
}

/** What was typed as an e-mail may be anything, a password too: the database sees only a hash of it. */
function keyOf(...words: readonly string[]): string {
  return hash('sha256', words.join('\u0000'), 'base64url');
}

function tooMany(count: RateLimiterRes): AppError {
  return new AppError('tooManyRequests', 'Too many failed logins: wait a minute and try again', {
    retryAfterSeconds: count.msBeforeNext / 1000,
  });
}

/** Counts one. @returns the refusal when that is more than there may be */
async function count(limiter: RateLimiterPostgres, key: string): Promise<AppError | null> {
  try {
    await limiter.consume(key);
    return null;
  } catch (refusal) {
    if (refusal instanceof RateLimiterRes) return tooMany(refusal);
    throw refusal;
  }
}
