import { hash } from 'node:crypto';
import type { Pool } from 'pg';
import { RateLimiterPostgres } from 'rate-limiter-flexible';
import { AppError } from '../error.ts';

/** Slows down guessing of passwords, per account and address and per address, without locking anybody out for good. */
export interface LoginThrottle {
  /** @throws AppError `tooManyRequests` while the account from this address, or the address, has failed too often */
  check(email: string, address: string): Promise<void>;
  recordFailure(email: string, address: string): Promise<void>;
  recordSuccess(email: string, address: string): Promise<void>;
}

const WINDOW_SECONDS = 60;
const FAILURES_PER_ACCOUNT_AND_ADDRESS = 20;
const FAILURES_PER_ADDRESS = 200;

/** What was typed as an e-mail may be anything, a password too: the database sees only a hash of it. */
const keyOf = (...words: readonly string[]): string => hash('sha256', words.join('\u0000'), 'base64url');

/** Counts are shared by all processes, for a minute: a mistyped password costs its owner a minute at worst. */
export const createLoginThrottle = (pool: Pool): LoginThrottle => {
  const counted = {
    storeClient: pool,
    tableName: 'failed_logins',
    tableCreated: true,
    duration: WINDOW_SECONDS,
  };
  const pairs = new RateLimiterPostgres({ ...counted, points: FAILURES_PER_ACCOUNT_AND_ADDRESS });
  const addresses = new RateLimiterPostgres({ ...counted, points: FAILURES_PER_ADDRESS });

  return {
    async check(email, address) {
      const counts = await Promise.all([pairs.get(keyOf(email, address)), addresses.get(keyOf(address))]);
      for (const count of counts) {
        if (count && count.remainingPoints <= 0) {
          throw new AppError('tooManyRequests', 'Too many failed logins: wait a minute and try again', {
            retryAfterSeconds: count.msBeforeNext / 1000,
          });
        }
      }
    },
    async recordFailure(email, address) {
      await Promise.all([pairs.penalty(keyOf(email, address)), addresses.penalty(keyOf(address))]);
    },
    async recordSuccess(email, address) {
      await pairs.delete(keyOf(email, address));
    },
  };
};
